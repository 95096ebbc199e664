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
 * Which MongoDB this is, and what it can do. It is asked at the first use, so that the
 * application starts before its server.
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
	 * Whether several documents can be written as one here, and so under a fence.
	 * @return whether the server has transactions
	 */
	public boolean hasTransactions() {
		ask();
		return this.transactions;
	}

	/**
	 * What the server is, in a few words.
	 * @return the description
	 */
	public String description() {
		ask();
		return this.description;
	}

	/**
	 * Whether all instances would stand still if this one was stopped, since the embedded
	 * server is in its memory.
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
