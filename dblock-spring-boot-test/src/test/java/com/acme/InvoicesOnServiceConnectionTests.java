package com.acme;

import com.mongodb.ConnectionString;
import com.mongodb.client.MongoClient;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.mongodb.autoconfigure.MongoConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What {@code @ServiceConnection} puts into a test's context, made by hand for a server
 * that is none of Testcontainers': connection details, which come before
 * {@code spring.mongodb.*}.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class InvoicesOnServiceConnectionTests {

	@Test
	void theLocksAreWhereTheConnectionDetailsLead(MongoServer server) {
		String database = server.freshDatabase();
		ConnectionString address = new ConnectionString(server.uri(database));
		MongoConnectionDetails details = () -> address;
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.properties("spring.mongodb.uri=mongodb://127.0.0.1:1/elsewhere")
			.initializers((GenericApplicationContext prepared) -> prepared.registerBean(MongoConnectionDetails.class,
					() -> details))
			.run()) {
			context.getBean(Invoices.class).write();
			assertThat(context.getBean(LockTemplate.class).listAll("", 10).locks()).hasSize(1);
			MongoClient client = server.client();
			assertThat(client.getDatabase(database).getCollection("dblock_locks").countDocuments()).isEqualTo(1);
		}
	}

}
