package dev.dblock.mongodb;

import com.mongodb.WriteConcern;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.dblock.mongodb.request.BsonParts;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.TransactionFence;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.data.mongodb.ReactiveMongoDatabaseFactory;
import org.springframework.transaction.reactive.TransactionContext;

/**
 * Fences one reactive transaction that Spring has begun. Loaded only if the reactive
 * driver is present.
 */
final class ReactiveTransactionFence extends MongoFence {

	private final ReactiveMongoDatabaseFactory factory;

	private final MongoClient client;

	private final ClientSession session;

	private ReactiveTransactionFence(FencedTransactions fenced, ReactiveMongoDatabaseFactory factory,
			MongoClient client, ClientSession session) {
		super(fenced);
		this.factory = factory;
		this.client = client;
		this.session = session;
	}

	/**
	 * Return the fence of a transaction, or {@code null} if it is not a transaction on
	 * the servers of the locks.
	 */
	static @Nullable ReactiveTransactionFence of(FencedTransactions fenced, TransactionContext transaction) {
		ReactiveMongoDatabaseFactory factory = lastBound(transaction);
		ClientSession session = (factory != null) ? ReactiveTransactionSession.of(factory, transaction) : null;
		return (factory != null && session != null && session.hasActiveTransaction()
				&& session.getOriginator() instanceof MongoClient client
				&& SameServers.areOf(client.getClusterDescription(), fenced.database().client()))
						? new ReactiveTransactionFence(fenced, factory, client, session) : null;
	}

	/**
	 * Return the factory that was bound last. If transactions on two databases are
	 * nested, that is the factory of the inner one.
	 */
	private static @Nullable ReactiveMongoDatabaseFactory lastBound(TransactionContext transaction) {
		ReactiveMongoDatabaseFactory last = null;
		for (Object resource : transaction.getResources().keySet()) {
			if (resource instanceof ReactiveMongoDatabaseFactory factory) {
				last = factory;
			}
		}
		return last;
	}

	@Override
	public boolean isOfSameTransactionAs(TransactionFence other) {
		return other instanceof ReactiveTransactionFence fence && fence.session == this.session;
	}

	/**
	 * Write the fence. Must be called in a thread that may block.
	 */
	@Override
	public Written write(LeaseKey lease, long token, int slot) {
		if (!this.session.hasActiveTransaction()) {
			return Written.DONE;
		}
		Written written = fenced().write(this.session.getTransactionOptions(), lease,
				() -> fenced().fences().isWritten(token, write(lease.id(), slot, token).block()));
		return translated(written, this.factory.getExceptionTranslator());
	}

	private Mono<BsonDocument> write(String name, int slot, long token) {
		MongoDatabase database = this.client.getDatabase(fenced().database().name());
		MongoCollection<BsonDocument> fences = database.getCollection(fenced().fences().name(), BsonDocument.class)
			.withCodecRegistry(BsonParts.CODECS)
			.withWriteConcern(WriteConcern.ACKNOWLEDGED);
		return Mono
			.from(fences.findOneAndUpdate(this.session, Fences.slot(name, slot), Fences.atLeast(token), Fences.WRITE));
	}

}
