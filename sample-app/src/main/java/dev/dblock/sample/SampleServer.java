package dev.dblock.sample;

import org.bson.Document;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.stereotype.Component;

/**
 * Type and capabilities of the MongoDB server in use. The server is queried at first use,
 * so that the application can start before its server.
 */
@Component
public class SampleServer {

	private static final Logger logger = LoggerFactory.getLogger(SampleServer.class);

	private final MongoTemplate mongo;

	private final ObjectProvider<EmbeddedMongo> embedded;

	private volatile boolean known;

	private volatile boolean transactions;

	private volatile String description = "not asked yet";

	SampleServer(MongoTemplate mongo, ObjectProvider<EmbeddedMongo> embedded) {
		this.mongo = mongo;
		this.embedded = embedded;
	}

	@EventListener(ApplicationReadyEvent.class)
	void tell() {
		if (hasTransactions()) {
			logger.info("WRITES    invoices in transactions that are fenced: {}", this.description);
		}
		else {
			logger.warn("WRITES    invoices without transactions, so without a fence: {}", this.description);
		}
	}

	/**
	 * Return whether several documents can be written as one, and therefore under a
	 * fence.
	 * @return whether the server supports transactions
	 */
	public boolean hasTransactions() {
		ask();
		return this.transactions;
	}

	/**
	 * Return a short description of the server.
	 * @return the description
	 */
	public String description() {
		ask();
		return this.description;
	}

	/**
	 * Return whether this process hosts the embedded server. If so, all instances would
	 * stand still if this process was stopped.
	 * @return whether the server is part of this process
	 */
	public boolean isHostedHere() {
		EmbeddedMongo host = this.embedded.getIfAvailable();
		return host != null && host.isHost();
	}

	private void ask() {
		if (this.known) {
			return;
		}
		if (this.embedded.getIfAvailable() != null) {
			this.description = "embedded server";
		}
		else {
			Document hello = this.mongo.executeCommand(new Document("hello", 1));
			String set = hello.getString("setName");
			boolean routed = "isdbgrid".equals(hello.getString("msg"));
			this.transactions = set != null || routed;
			this.description = "MongoDB " + version() + ", "
					+ (routed ? "sharded cluster" : (set != null) ? "replica set " + set : "standalone server");
		}
		this.known = true;
	}

	private String version() {
		return this.mongo.executeCommand(new Document("buildInfo", 1)).getString("version");
	}

}
