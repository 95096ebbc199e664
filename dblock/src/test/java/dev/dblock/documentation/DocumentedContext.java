package dev.dblock.documentation;

import java.time.LocalDate;
import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.dblock.LockTemplate;
import dev.dblock.leader.LeaderListener;
import dev.dblock.mongodb.LockFence;
import org.bson.Document;

import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.transaction.ReactiveTransactionManager;

/**
 * The context that the snippets of the documentation use without declaring it.
 */
@SuppressWarnings("NullAway.Init")
abstract class DocumentedContext {

	protected LockTemplate lockTemplate;

	protected LockFence lockFence;

	protected MongoClient client;

	protected MongoCollection<Document> stock;

	protected MongoCollection<Document> locks;

	protected LockRegistry<?> lockRegistry;

	protected Orders repository;

	protected Jdbc jdbc;

	protected Reports reports;

	protected SearchIndex index;

	protected ReactiveTransactionManager reactiveTransactionManager;

	protected Order order;

	protected String item;

	protected String id;

	protected String from;

	protected String to;

	protected long amount;

	protected int count;

	protected abstract int reserve(String item);

	protected abstract void alert(String text);

	abstract List<Order> orders();

	abstract List<Order> orders(int shard, int shards);

	interface PriceFeed extends LeaderListener {

	}

	interface Schedules {

		String cronOfInvoices();

	}

	static class InvoiceJob {

	}

	abstract void invoice();

	abstract void invoice(Order order);

	abstract void settle(Order order);

	abstract void transfer(String from, String to, long amount);

	record Order(String id) {
	}

	record Receipt(String id) {
	}

	interface Orders {

		void save(Order order, long token);

	}

	interface SearchIndex {

		void replace(String region, List<Order> orders);

	}

	interface Reports {

		boolean isMade(LocalDate day);

		void make(LocalDate day);

	}

	interface Jdbc {

		int update(String statement, Object... values);

	}

}
