package dev.dblock.core;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockOptions;
import dev.dblock.claim.Claim;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.LockAdministration;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.support.Durations;
import dev.dblock.support.LockMdc;
import dev.dblock.transaction.LockTransactions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock engine over a {@link LockRepository}. It starts no thread before the first
 * lock is acquired.
 */
public final class DefaultLockEngine implements LockEngine, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DefaultLockEngine.class);

	private final LockRepository repository;

	private final EngineSettings settings;

	private final LockClock clock;

	private final LockObservations observations;

	private final EngineParts parts;

	private final LockListeners listeners;

	private final StoreHealth check;

	/**
	 * Create an engine over a store.
	 * @param repository the store
	 * @param settings the settings
	 * @param listeners the listeners to notify of lock events
	 * @throws IllegalArgumentException when the prefix or the default options in the
	 * settings are invalid
	 */
	public DefaultLockEngine(LockRepository repository, EngineSettings settings, Iterable<LockListener> listeners) {
		this(repository, settings, listeners, LockObserver.NONE, new LockTransactions());
	}

	/**
	 * Create an engine over a store with an observer, for an application that has
	 * transactions.
	 * @param repository the store
	 * @param settings the settings
	 * @param listeners the listeners to notify of lock events
	 * @param observer the observer of the engine's activities
	 * @param transactions the application's transactions
	 * @throws IllegalArgumentException when the prefix or the default options in the
	 * settings are invalid
	 */
	public DefaultLockEngine(LockRepository repository, EngineSettings settings, Iterable<LockListener> listeners,
			LockObserver observer, LockTransactions transactions) {
		this(repository, settings, listeners, observer, transactions, LockClock.with(repository.clockAllowance()),
				FeedUse.Patience.USUAL);
	}

	DefaultLockEngine(LockRepository repository, EngineSettings settings, Iterable<LockListener> listeners,
			LockClock clock) {
		this(repository, settings, listeners, LockObserver.NONE, new LockTransactions(), clock, FeedUse.Patience.USUAL);
	}

	DefaultLockEngine(LockRepository repository, EngineSettings settings, Iterable<LockListener> listeners,
			LockObserver observer, LockTransactions transactions, LockClock clock, FeedUse.Patience feedPatience) {
		this.settings = settings.checked();
		this.observations = new LockObservations(observer);
		this.repository = repository;
		this.clock = clock;
		this.parts = new EngineParts(repository, this.settings, listeners, this.observations, transactions, clock,
				feedPatience);
		this.listeners = this.parts.listeners();
		this.check = new StoreHealth(repository, settings.namePrefix(), settings.acquirer(), clock);
		logger.info("Locks are in {}, lease {}, acquirer {}", repository,
				Durations.readable(LeaseTerms.of(settings.defaults()).lease()), settings.acquirer());
	}

	private DefaultLockEngine(DefaultLockEngine engine, EngineSettings settings) {
		this.settings = settings;
		this.observations = engine.observations;
		this.repository = engine.repository;
		this.clock = engine.clock;
		this.parts = engine.parts;
		this.listeners = engine.listeners;
		this.check = engine.check;
	}

	/**
	 * Return the transactions that are fenced by the locks of this engine, once they are
	 * {@linkplain LockTransactions#follow(org.springframework.transaction.PlatformTransactionManager)
	 * followed}.
	 * @return the transactions
	 */
	public LockTransactions transactions() {
		return this.parts.transactions();
	}

	@Override
	public String fullName(String name) {
		return this.settings.fullName(name);
	}

	@Override
	public LockEngine resolved(Collection<String> names) {
		return new DefaultLockEngine(this, this.settings.resolved(names));
	}

	@Override
	public void check(String name, LockOptions options) {
		this.settings.check(name, options);
	}

	@Override
	public Optional<LockSettings.Setting> setting(String name) {
		return Optional.of(this.settings.locks().of(name));
	}

	@Override
	public LockEngine.Attempt acquire(String name, LockOptions options) {
		return acquire(name, options, null);
	}

	@Override
	public LockEngine.Attempt acquire(String name, LockOptions options, @Nullable Duration wait) {
		LockOptions wanted = this.settings.locks().before(name, options);
		return request(name, wanted, this.settings.terms(name, (wait != null) ? wanted.waitUpTo(wait) : wanted));
	}

	@Override
	public LockEngine.Attempt acquireAskable(String name, LockOptions options, Duration wait) {
		LockOptions wanted = this.settings.locks().before(name, options);
		return request(name, wanted, this.settings.terms(name, wanted).toAskable(wait));
	}

	private LockEngine.Attempt request(String name, LockOptions wanted, LeaseTerms terms) {
		String fullName = fullName(name);
		long start = this.clock.nanoTime();
		LockObservations.Acquisition acquisition = this.observations.acquiring(fullName, wanted.label(),
				terms.permits());
		LockEngine.Attempt attempt;
		try {
			this.repository.checkCaller();
			attempt = this.parts.acquire(fullName, terms, acquisition);
		}
		catch (RuntimeException | Error ex) {
			acquisition.failed(ex);
			this.check.failed(ex);
			throw ex;
		}
		if (attempt instanceof LockEngine.Granted grant) {
			this.check.granted();
			LockObservations.Hold hold = acquisition.acquired(grant.handle().token());
			if (hold != null && grant.handle() instanceof LeasedLock lock) {
				lock.lease().observedBy(hold);
			}
			logGrant(grant.handle(), terms, Duration.ofNanos(this.clock.nanoTime() - start));
			Claim.News earlier = (grant.handle() instanceof LeasedLock lock) ? lock.lease().reportEarlier() : null;
			if (earlier != null) {
				LockMdc.log(fullName, grant.handle().token(), () -> earlier.log(logger));
				this.listeners.onNews(fullName, earlier);
			}
			this.listeners.onAcquired(grant.handle());
		}
		else if (attempt instanceof LockEngine.Refused refused) {
			acquisition.unavailable();
			this.listeners.onUnavailable(refused.refusal());
		}
		return attempt;
	}

	@Override
	public AskAnswer ask(String name) {
		String fullName = fullName(name);
		try {
			return this.repository.ask(fullName, this.clock.newId(), this.settings.timeout());
		}
		catch (RepositoryInterruptedException ex) {
			throw new LockInterruptedException(fullName, ex);
		}
	}

	private static void logGrant(LockHandle handle, LeaseTerms terms, Duration waited) {
		if (logger.isDebugEnabled()) {
			LockMdc.log(handle.name(), handle.token(),
					() -> logger.debug("Acquired the lock '{}' (fencing token {}) for {} after {}", handle.name(),
							handle.token(), Durations.readable(terms.lease()), Durations.readable(waited)));
		}
	}

	@Override
	public LockOptions complete(String name, LockOptions options) {
		LockOptions completed = this.settings.locks().before(name, options);
		this.settings.terms(name, completed);
		return completed.orElse(this.settings.defaults());
	}

	/**
	 * Return the state of this engine.
	 * @return the state, which can be queried at any time
	 */
	public EngineState state() {
		return this.parts.state();
	}

	@Override
	public Optional<LockHandle> keptByTransaction(String fullName) {
		return this.parts.kept(fullName);
	}

	@Override
	public Object id() {
		return this.parts.id();
	}

	@Override
	public String acquirer() {
		return this.settings.acquirer();
	}

	@Override
	public LockAdministration administration() {
		return LockAdministration.of(this.repository, this.settings.namePrefix(), this.parts::withOwner);
	}

	@Override
	public void report(String fullName, Claim.News news) {
		this.listeners.onNews(fullName, news);
	}

	/**
	 * Query the store for its time, which also shows whether locks can be read there.
	 * @param timeout how long the request may take
	 * @return the time of the store's clock, or empty when the store does not provide it
	 * @throws org.springframework.dao.DataAccessException when the store cannot be
	 * queried
	 */
	public Optional<StoreTime> storeTime(Duration timeout) {
		return this.repository.time(timeout);
	}

	/**
	 * Check whether locks can be acquired, within the time limit of one request.
	 * @throws org.springframework.dao.DataAccessException when they cannot, with the
	 * reason
	 */
	public void check() {
		check(this.settings.timeout());
	}

	/**
	 * Check whether locks can be acquired.
	 * @param timeout how long the check may take
	 * @throws org.springframework.dao.DataAccessException when they cannot, with the
	 * reason
	 */
	public void check(Duration timeout) {
		this.check.run(timeout);
	}

	/**
	 * Return whether the last check, or the last request for a lock, failed in the store.
	 * @return whether no lock was granted, and no check has succeeded, since then
	 */
	public boolean isFailing() {
		return this.check.isFailing();
	}

	EngineParts parts() {
		return this.parts;
	}

	/**
	 * Refuse to let any thread wait for a lock from now on, because the application is
	 * about to shut down. Locks that are held are renewed as before.
	 */
	public void refuseWaiters() {
		this.parts.refuseWaiters();
	}

	/**
	 * Close this engine. A lock that is still held belongs to work that is still running,
	 * so it is not released before that work ends. Its holder is notified, and the lock
	 * ends with its lease. Locks that are being granted or released during this call, and
	 * those that were {@linkplain LockHandle#keepUntilShutdown() kept until now}, are
	 * released. A store that does not answer delays this by at most thirteen seconds.
	 */
	@Override
	public void close() {
		this.parts.close();
	}

}
