package dev.dblock.recipes.changes;

import io.mongock.api.annotations.ChangeUnit;
import io.mongock.api.annotations.Execution;
import io.mongock.api.annotations.RollbackExecution;
import org.bson.Document;

import org.springframework.data.mongodb.core.MongoTemplate;

/**
 * A change of the data.
 */
@ChangeUnit(id = "add-currency", order = "1", author = "dblock", transactional = false)
public class AddCurrency {

	@Execution
	public void execute(MongoTemplate template) {
		template.getCollection("orders").insertOne(new Document("currency", "EUR"));
	}

	@RollbackExecution
	public void rollback() {
	}

}
