package dev.dblock.sample.billing;

import org.bson.Document;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.aggregation.Aggregation;
import org.springframework.data.mongodb.core.aggregation.ArrayOperators;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.stereotype.Component;

/**
 * Counts what has been billed, from orders and from invoices. The two must agree.
 */
@Component
public class BillingFigures {

	private final MongoTemplate mongo;

	BillingFigures(MongoTemplate mongo) {
		this.mongo = mongo;
	}

	/**
	 * Count orders and invoices.
	 * @return the current figures
	 */
	public Figures count() {
		// Invoices first: an order that is billed in between is then not counted as
		// billed twice
		Document invoices = this.mongo.aggregate(Aggregation.newAggregation(Aggregation.group()
			.count()
			.as("invoices")
			.sum(ArrayOperators.Size.lengthOfArray("orders"))
			.as("orders")), Invoice.class, Document.class).getUniqueMappedResult();
		long open = this.mongo.count(Query.query(Criteria.where("invoice").is(Order.OPEN)), Order.class);
		long billed = this.mongo.count(Query.query(Criteria.where("invoice").ne(Order.OPEN)), Order.class);
		return new Figures(open, billed, number(invoices, "invoices"),
				Math.max(0, number(invoices, "orders") - billed));
	}

	private static long number(@Nullable Document document, String field) {
		return (document != null && document.get(field) instanceof Number number) ? number.longValue() : 0;
	}

	/**
	 * Billing figures.
	 *
	 * @param openOrders the number of orders that are not on an invoice yet
	 * @param billedOrders the number of orders that are on an invoice
	 * @param invoices the number of invoices
	 * @param billedTwice how many more orders are on invoices than have been billed
	 */
	public record Figures(long openOrders, long billedOrders, long invoices, long billedTwice) {
	}

}
