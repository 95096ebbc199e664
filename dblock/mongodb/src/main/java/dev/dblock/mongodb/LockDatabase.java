package dev.dblock.mongodb;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.dblock.mongodb.request.FailureTranslation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * The one database in which a repository stores its locks, whatever thread asks.
 * <p>
 * The application's factory may choose a database by thread, such as the database of the
 * thread's tenant. A lock, however, is renewed, released and administered by other
 * threads than the one that acquired it. Therefore the database is determined at the
 * first use, all requests of all threads are sent there, and a thread for which the
 * factory chooses another database acquires no lock. At the first use, the factory is
 * also asked in a new thread, so that such a factory is reported before it matters which
 * tenant came first.
 * <p>
 * A factory may replace its client, for example after a change of the password, as long
 * as the servers or all threads have the new client in common.
 */
final class LockDatabase implements MongoDatabaseFactory {

	private static final Logger logger = LoggerFactory.getLogger(LockDatabase.class);

	/**
	 * The factory may depend on a bean that the calling thread is creating, so that no
	 * other thread gets an answer before the caller proceeds.
	 */
	private static final Duration LONGEST_LOOK = Duration.ofSeconds(5);

	private static final String ADVICE = "dblock stores its locks in one database, because it renews and releases them"
			+ " in threads of its own. Define a MongoDatabaseFactory bean for the locks that always returns the same"
			+ " database, and name it in dblock.mongodb.database-factory. To give each tenant its own locks, add a"
			+ " LockNamePrefix bean";

	private final MongoDatabaseFactory factory;

	private final Duration longestLook;

	private final AtomicReference<@Nullable Place> place = new AtomicReference<>();

	LockDatabase(MongoDatabaseFactory factory) {
		this(factory, LONGEST_LOOK);
	}

	LockDatabase(MongoDatabaseFactory factory, Duration longestLook) {
		this.factory = factory;
		this.longestLook = longestLook;
	}

	/**
	 * Check that the factory has the same database for the calling thread as for others.
	 * Sends no request.
	 * @throws InvalidDataAccessApiUsageException if it has not
	 */
	void check() {
		MongoDatabase here = askHere();
		Place known = this.place.get();
		if (known == null || !known.isExactly(here)) {
			settle(Place.of(here, this.factory), known);
		}
	}

	private MongoDatabase askHere() {
		try {
			return this.factory.getMongoDatabase();
		}
		catch (RuntimeException ex) {
			if (ex instanceof DataAccessException || FailureTranslation.mongoCause(ex) != null) {
				throw ex;
			}
			throw new InvalidDataAccessApiUsageException(
					"The MongoDatabaseFactory has no database for the thread '%s' (%s). If it chooses one by thread: %s"
						.formatted(Thread.currentThread().getName(), ex, ADVICE),
					ex);
		}
	}

	/**
	 * Accept the database of the calling thread, or refuse it.
	 */
	private void settle(Place here, @Nullable Place known) {
		if (known == null || !known.isSame(here)) {
			if (known != null && !known.name().equals(here.name())) {
				throw refusal(here, new Seen(known, null));
			}
			Seen elsewhere = askElsewhere();
			if (elsewhere.contradicts(here, known)) {
				throw refusal(here, (known != null) ? new Seen(known, null) : elsewhere);
			}
		}
		// Another thread may have determined the database in the meantime
		if (!this.place.compareAndSet(known, here)) {
			settle(here, this.place.get());
		}
	}

	private static InvalidDataAccessApiUsageException refusal(Place here, Seen other) {
		return new InvalidDataAccessApiUsageException(
				"The MongoDatabaseFactory chooses the database by thread: it returns '%s' for the thread '%s', and %s. %s"
					.formatted(here.name(), Thread.currentThread().getName(), other.describe(here), ADVICE),
				other.failure());
	}

	/**
	 * Ask the factory in a thread that inherits nothing from the calling one.
	 */
	private Seen askElsewhere() {
		FutureTask<Place> look = new FutureTask<>(() -> Place.of(this.factory.getMongoDatabase(), this.factory));
		Thread thread = new Thread(null, look, "dblock-database", 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		thread.start();
		try {
			return new Seen(look.get(this.longestLook.toMillis(), TimeUnit.MILLISECONDS), null);
		}
		catch (ExecutionException ex) {
			return new Seen(null, ex.getCause());
		}
		catch (TimeoutException ex) {
			logger.debug("It is unknown whether the MongoDatabaseFactory chooses a database by thread", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return Seen.NOTHING;
	}

	/**
	 * Return the database of the locks, which is determined now if this is the first use.
	 * @throws InvalidDataAccessApiUsageException if it is, and the factory has another
	 * database for other threads
	 */
	@Override
	public MongoDatabase getMongoDatabase() {
		Place known = this.place.get();
		if (known != null) {
			return current(known).database();
		}
		check();
		return Objects.requireNonNull(this.place.get()).database();
	}

	/**
	 * Return the known database, with the client that the factory has at present. If the
	 * calling thread has another database in the meantime, or none, another thread shows
	 * whether the client was replaced.
	 */
	private Place current(Place known) {
		Place here = null;
		try {
			MongoDatabase database = this.factory.getMongoDatabase();
			if (known.isExactly(database)) {
				return known;
			}
			here = Place.of(database, this.factory);
		}
		catch (RuntimeException ex) {
			logger.debug("The MongoDatabaseFactory has no database for this thread", ex);
		}
		Place seen = (here != null && here.isSame(known)) ? here : askElsewhere().place();
		if (seen == null || !seen.name().equals(known.name())) {
			return known;
		}
		this.place.compareAndSet(known, seen);
		return seen;
	}

	/**
	 * Return the name of the database.
	 */
	String name() {
		Place known = this.place.get();
		return (known != null) ? known.name() : this.factory.getMongoDatabase().getName();
	}

	/**
	 * Return the client of the locks.
	 * @return the client; {@code null} if it is unknown
	 */
	@Nullable MongoClient client() {
		Place known = this.place.get();
		return (known != null) ? known.client() : SameServers.client(this.factory);
	}

	boolean isOf(MongoDatabaseFactory factory) {
		return this.factory == factory;
	}

	@Override
	public MongoDatabase getMongoDatabase(String dbName) {
		return this.factory.getMongoDatabase(dbName);
	}

	@Override
	public PersistenceExceptionTranslator getExceptionTranslator() {
		return this.factory.getExceptionTranslator();
	}

	@Override
	public ClientSession getSession(ClientSessionOptions options) {
		return this.factory.getSession(options);
	}

	@Override
	public MongoDatabaseFactory withSession(ClientSession session) {
		return this.factory.withSession(session);
	}

	/**
	 * A database on its servers.
	 *
	 * @param database the database
	 * @param client its client; {@code null} if it is unknown
	 */
	private record Place(MongoDatabase database, @Nullable MongoClient client) {

		static Place of(MongoDatabase database, MongoDatabaseFactory factory) {
			return new Place(database, SameServers.client(factory));
		}

		String name() {
			return this.database.getName();
		}

		/**
		 * Return whether a database has the same name and client. Each client has its own
		 * codec registry.
		 */
		boolean isExactly(MongoDatabase other) {
			return this.database.getCodecRegistry() == other.getCodecRegistry() && name().equals(other.getName());
		}

		/**
		 * Return whether another database has the same name and servers, as far as they
		 * are known.
		 */
		boolean isSame(Place other) {
			return name().equals(other.name()) && (this.client == null || other.client == null
					|| SameServers.areOf(this.client.getClusterDescription(), other.client));
		}

	}

	/**
	 * What the factory returned in another thread.
	 *
	 * @param place the database, if it returned one
	 * @param failure its failure, if it failed
	 */
	private record Seen(@Nullable Place place, @Nullable Throwable failure) {

		/** For a factory that did not answer in time. */
		static final Seen NOTHING = new Seen(null, null);

		/**
		 * Return whether the factory chooses by thread. Without an answer, the thread is
		 * accepted, unless other servers are known.
		 */
		boolean contradicts(Place here, @Nullable Place known) {
			return (this.place != null) ? !this.place.isSame(here) : this.failure != null || known != null;
		}

		String describe(Place here) {
			if (this.place == null) {
				return "fails in another thread (" + this.failure + ")";
			}
			return this.place.name().equals(here.name()) ? "a database of that name on other servers for another thread"
					: "'" + this.place.name() + "' for another thread";
		}

	}

}
