package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.WhenLost;
import dev.dblock.core.lease.LockClock;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.transaction.LockTransactions;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One process with its engine, one store, and clocks that tests move. Registered as an
 * extension, it is closed after each test, which must leave no interrupt behind.
 */
public final class LockWorld implements AfterEachCallback, AutoCloseable {

	public static final Duration LEASE = Duration.ofSeconds(30);

	public static final Duration TIMEOUT = Duration.ofSeconds(5);

	public static final LockOptions DEFAULTS = new LockOptions(LEASE, Duration.ZERO, Duration.ZERO, Duration.ZERO, true,
			WhenLost.NOTIFY, null, null);

	private final ManualClock clock = new ManualClock();

	private final InMemoryLockRepository repository = new InMemoryLockRepository(this.clock::serverMillis);

	private final RecordingListener listener = new RecordingListener();

	private final List<DefaultLockEngine> engines = new ArrayList<>();

	private final LockTransactions transactions = new LockTransactions();

	private final DefaultLockEngine engine = newEngine(settings(""));

	private final DefaultLockTemplate template = new DefaultLockTemplate(this.engine);

	public static final EngineSettings.Poll POLL = new EngineSettings.Poll(Duration.ofMillis(1), Duration.ofMillis(2));

	/**
	 * So far apart that no test sees a second poll.
	 */
	static final EngineSettings.Poll RARE_POLLS = new EngineSettings.Poll(Duration.ofHours(1), Duration.ofHours(1));

	/**
	 * So long that a lock is handed over however long the machine stalls.
	 */
	static final EngineSettings.HandOff HAND_OFF = new EngineSettings.HandOff(1000, Duration.ofHours(1));

	public static EngineSettings settings(String prefix) {
		return settings(prefix, LockSettings.NONE);
	}

	public static EngineSettings settings(String prefix, LockSettings locks) {
		return new EngineSettings(prefix, "host-1:4711:k7", DEFAULTS, TIMEOUT, POLL, HAND_OFF, locks, (name) -> "");
	}

	public static EngineSettings settings(LockOptions defaults, Duration timeout, EngineSettings.Poll poll) {
		return new EngineSettings("", "host-2:815:x1", defaults, timeout, poll, HAND_OFF);
	}

	DefaultLockEngine newEngine(Duration timeout, EngineSettings.Poll poll) {
		return newEngine(settings(DEFAULTS, timeout, poll));
	}

	public DefaultLockEngine newEngine(EngineSettings settings, LockListener... listeners) {
		return newEngine(settings, this.clock, listeners);
	}

	DefaultLockEngine newEngine(LockObserver observer) {
		DefaultLockEngine engine = new DefaultLockEngine(this.repository, settings(""), List.of(this.listener),
				observer, this.transactions, this.clock, FeedUse.Patience.USUAL);
		this.engines.add(engine);
		return engine;
	}

	DefaultLockEngine newEngine(EngineSettings settings, LockClock clock, LockListener... listeners) {
		List<LockListener> all = new ArrayList<>(List.of(listeners));
		all.add(this.listener);
		DefaultLockEngine engine = new DefaultLockEngine(this.repository, settings, all, LockObserver.NONE,
				this.transactions, clock, FeedUse.Patience.USUAL);
		this.engines.add(engine);
		return engine;
	}

	static LockHandle granted(LockEngine.Attempt attempt) {
		assertThat(attempt).isInstanceOf(LockEngine.Granted.class);
		return ((LockEngine.Granted) attempt).handle();
	}

	static LockRefusal refused(LockEngine.Attempt attempt) {
		assertThat(attempt).isInstanceOf(LockEngine.Refused.class);
		return ((LockEngine.Refused) attempt).refusal();
	}

	public ManualClock clock() {
		return this.clock;
	}

	InMemoryLockRepository repository() {
		return this.repository;
	}

	/**
	 * Let the locks of all processes follow the transactions of a manager.
	 */
	void follow(ScriptedTransactions manager) {
		this.transactions.follow(manager);
	}

	List<String> news() {
		return this.listener.news();
	}

	DefaultLockEngine engine() {
		return this.engine;
	}

	public DefaultLockTemplate template() {
		return this.template;
	}

	LockHandle acquire(String name) {
		return acquire(name, LockOptions.defaults());
	}

	LockHandle acquire(String name, LockOptions options) {
		return this.template.acquire(name, options);
	}

	LockHandle acquireUnrenewed(String name) {
		return acquire(name, LockOptions.defaults().autoRenew(false));
	}

	/**
	 * A second process on the same store.
	 */
	public DefaultLockTemplate anotherProcess() {
		return anotherProcess(LockOptions.defaults());
	}

	public DefaultLockTemplate anotherProcess(String prefix) {
		return new DefaultLockTemplate(newEngine(settings(prefix)));
	}

	public DefaultLockTemplate anotherProcess(LockOptions defaults) {
		return new DefaultLockTemplate(newEngine(settings(defaults.orElse(DEFAULTS), TIMEOUT, POLL)));
	}

	public void failReleases(Throwable failure) {
		this.repository.always(Request.Kind.RELEASE, Fault.lost(() -> failure));
	}

	/**
	 * Take a lock as another process would.
	 */
	public LeaseKey seize(String name, Duration lease) {
		LeaseKey key = new LeaseKey(name, "another-" + System.nanoTime());
		AcquireAnswer answer = this.repository
			.acquire(new AcquireRequest(key, lease, "host-2:815:x1", "other", "another process", TIMEOUT));
		if (!(answer instanceof AcquireAnswer.Granted)) {
			throw new AssertionError("The lock is not free: " + answer);
		}
		return key;
	}

	/**
	 * Let an operator release the lock by force, and another process acquire it.
	 */
	public void rob(String name) {
		this.repository.forceReleaseNow(name);
		seize(name, LEASE);
	}

	/**
	 * Time passes, and the watchdog looks at all leases.
	 */
	public void advance(Duration time) {
		this.clock.advance(time);
		look();
	}

	/**
	 * Let the watchdog check all leases. Starting the renewal of a lock makes it check
	 * all of them.
	 */
	public void look() {
		try (LockHandle nudge = this.template.acquire(InMemoryLockRepository.UNSEEN + System.nanoTime())) {
			nudge.startRenewal();
		}
	}

	/**
	 * Close the engine. What has to end first may take as long as it does.
	 */
	void closePatiently() {
		this.clock.stopLimits();
		this.engine.close();
	}

	/**
	 * Close the engine in another thread, which has to wait for something first.
	 * @return whether the lock is free when the engine is closed
	 */
	Worker<Boolean> startClosing(String name) {
		Worker<Boolean> closing = Worker.start(() -> {
			closePatiently();
			return !this.repository.isHeld(name);
		});
		closing.awaitWaiting();
		return closing;
	}

	/**
	 * Let the waiters of an engine wait for a release however long it takes. On a machine
	 * that stalls they may otherwise send requests before its end. This applies to locks
	 * that nothing waits for and nothing holds yet.
	 */
	static void awaitReleases(DefaultLockEngine engine) {
		ReflectionTestUtils.setField(engine.parts().queues(), "longestReleaseNanos", TimeUnit.HOURS.toNanos(1));
	}

	public static ConditionFactory eventually() {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(2));
	}

	@Override
	public void afterEach(ExtensionContext context) {
		assertThat(Thread.interrupted()).as("the test leaves no interrupt behind").isFalse();
		close();
	}

	@Override
	public void close() {
		this.repository.heal();
		this.engines.forEach(DefaultLockEngine::close);
	}

}
