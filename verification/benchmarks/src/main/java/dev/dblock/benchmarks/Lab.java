package dev.dblock.benchmarks;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import dev.dblock.shedlock.DblockLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.jspecify.annotations.Nullable;

/**
 * All subjects in one process, each opened at its first use. The subjects on MongoDB
 * share a client, as they would in an application.
 */
final class Lab implements AutoCloseable {

	private final Addresses addresses;

	private final MongoClient client;

	private final Map<Subject, Locks> open = new ConcurrentHashMap<>();

	Lab(Addresses addresses) {
		this(addresses, null);
	}

	/**
	 * Create a lab.
	 * @param addresses the addresses of the servers
	 * @param listener the listener for the commands of the MongoDB client, or
	 * {@code null}
	 */
	Lab(Addresses addresses, @Nullable CommandListener listener) {
		this.addresses = addresses;
		MongoClientSettings.Builder settings = MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(addresses.mongodb()));
		if (listener != null) {
			settings.addCommandListener(listener);
		}
		this.client = MongoClients.create(settings.build());
	}

	Addresses addresses() {
		return this.addresses;
	}

	boolean has(Subject subject) {
		return subject != Subject.REDISSON || this.addresses.redis() != null;
	}

	Locks locks(Subject subject) {
		return this.open.computeIfAbsent(subject, this::open);
	}

	private Locks open(Subject subject) {
		String database = this.addresses.database();
		return switch (subject) {
			case DBLOCK -> application();
			case RAW -> new RawWrites(this.client.getDatabase(database));
			case UNREPEATED -> RawWrites.unrepeated(this.addresses);
			case SHEDLOCK -> new ShedLockLocks(ShedLockLocks.mongo(this.client.getDatabase(database)), null);
			case PROVIDER -> provided(application(), null);
			case BOTH_PROVIDERS ->
				provided(application(), ShedLockLocks.mongo(this.client.getDatabase(database + "-beside")));
			case REDISSON -> new RedissonLocks(this.addresses.requireRedis());
			case FAIR_LOCK -> new FairLock();
		};
	}

	private static Locks provided(DblockLocks application, @Nullable LockProvider beside) {
		DblockLockProvider provider = new DblockLockProvider(application.template());
		return new ShedLockLocks((beside != null) ? provider.beside(beside) : provider, application);
	}

	/**
	 * Start another application that uses dblock. The caller closes it.
	 */
	DblockLocks application(Class<?>... beans) {
		return new DblockLocks(this.client, this.addresses.database(), beans);
	}

	@Override
	public void close() {
		this.open.values().forEach(Locks::close);
		this.open.clear();
		this.client.close();
	}

}
