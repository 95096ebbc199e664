package dev.dblock.sample.billing;

import java.util.List;
import java.util.Set;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.data.domain.Sort;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.stereotype.Repository;

/**
 * Orders, invoices and accounts in MongoDB.
 */
@Repository
class BillingStore {

	private static final Logger logger = LoggerFactory.getLogger(BillingStore.class);

	private final MongoTemplate mongo;

	BillingStore(MongoTemplate mongo) {
		this.mongo = mongo;
	}

	/**
	 * Create collections, since a transaction cannot write to a collection that was
	 * created after it began.
	 */
	@EventListener(ApplicationStartedEvent.class)
	void createCollections() {
		for (String name : List.of("orders", "invoices", "accounts", "reports")) {
			try {
				if (!this.mongo.collectionExists(name)) {
					this.mongo.createCollection(name);
				}
			}
			catch (DataAccessException ex) {
				logger.debug("Another instance creates {} at the same time, or the server is unreachable", name, ex);
			}
		}
	}

	void place(Order order) {
		this.mongo.insert(order);
	}

	Set<String> customersWithOpenOrders() {
		return Set.copyOf(this.mongo.findDistinct(Query.query(isOpen()), "customer", Order.class, String.class));
	}

	List<Order> openOrders(String customer, int limit) {
		Criteria ofCustomer = isOpen().and("customer").is(customer);
		return this.mongo.find(Query.query(ofCustomer).with(Sort.by("placedAt")).limit(limit), Order.class);
	}

	private static Criteria isOpen() {
		return Criteria.where("invoice").is(Order.OPEN);
	}

	/**
	 * Write an invoice, which takes three writes that belong together.
	 */
	void write(Invoice invoice) {
		this.mongo.insert(invoice);
		this.mongo.updateMulti(Query.query(Criteria.where("_id").in(invoice.orders())),
				Update.update("invoice", invoice.id()), Order.class);
		this.mongo.upsert(Query.query(Criteria.where("_id").is(invoice.customer())),
				new Update().inc("invoicedCents", invoice.cents()), "accounts");
	}

	Report report(long token, String writtenBy) {
		List<Account> accounts = this.mongo.findAll(Account.class, "accounts");
		return Report.of(accounts.stream().mapToLong(Account::invoicedCents).sum(), accounts.size(), token, writtenBy);
	}

	void write(Report report) {
		this.mongo.save(report);
	}

	/**
	 * Account of a customer.
	 *
	 * @param id the customer
	 * @param invoicedCents the total amount of the customer's invoices
	 */
	record Account(String id, long invoicedCents) {
	}

}
