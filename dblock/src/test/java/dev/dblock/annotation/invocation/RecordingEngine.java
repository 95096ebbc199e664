package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.LossReason;
import dev.dblock.WhenUnavailable;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobRefusal;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.LockAdministration;
import dev.dblock.store.LockRepository.AskAnswer;
import org.jspecify.annotations.Nullable;

/**
 * An engine in memory that records its calls.
 */
public class RecordingEngine implements LockEngine {

	private final List<String> events = new CopyOnWriteArrayList<>();

	private final List<LockOptions> options = new CopyOnWriteArrayList<>();

	private final Map<String, LockOptions> optionsByName = new ConcurrentHashMap<>();

	private final Map<String, WhenUnavailable> whenUnavailable = new ConcurrentHashMap<>();

	private final Set<String> heldElsewhere = ConcurrentHashMap.newKeySet();

	private final Map<String, JobRefusal> jobs = new ConcurrentHashMap<>();

	private final Map<String, Thread> threads = new ConcurrentHashMap<>();

	private volatile boolean closing;

	private final Map<String, Handle> held = new ConcurrentHashMap<>();

	/**
	 * The recorded events, such as "lock a" and "unlock a", and those that tests add.
	 */
	public List<String> events() {
		return new ArrayList<>(this.events);
	}

	public void event(String event) {
		this.events.add(event);
	}

	public void clear() {
		this.events.clear();
	}

	public void holdElsewhere(String name) {
		this.heldElsewhere.add(name);
	}

	void refuse(String name, JobRefusal.Reason reason) {
		this.heldElsewhere.add(name);
		this.jobs.put(name, new JobRefusal(reason, null, null, null, null));
	}

	public void freeElsewhere(String name) {
		this.heldElsewhere.remove(name);
	}

	/**
	 * The thread that asked for a lock last.
	 */
	public Thread thread(String name) {
		return this.threads.get(name);
	}

	void beginClosing() {
		this.closing = true;
	}

	public boolean isHeld(String name) {
		return this.held.containsKey(name);
	}

	/**
	 * Let a held lock be lost, as if its lease had ended.
	 */
	public void lose(String name) {
		this.held.get(name).lose();
	}

	LockOptions lastOptions() {
		return this.options.get(this.options.size() - 1);
	}

	LockOptions optionsOf(String name) {
		return this.optionsByName.get(name);
	}

	void set(String name, WhenUnavailable whenUnavailable) {
		this.whenUnavailable.put(name, whenUnavailable);
	}

	@Override
	public Optional<LockSettings.Setting> setting(String name) {
		return Optional.of(new LockSettings.Setting(LockOptions.defaults(), this.whenUnavailable.get(name)));
	}

	@Override
	public Object id() {
		return this;
	}

	@Override
	public String fullName(String name) {
		if (name.isBlank() || name.length() > 100) {
			throw new IllegalArgumentException("A name of %d characters cannot be a lock's".formatted(name.length()));
		}
		return name;
	}

	@Override
	public void check(String name, LockOptions options) {
		if (name.indexOf(LockSettings.ANYTHING) < 0) {
			fullName(name);
		}
		if (options.lease() != null && options.lease().compareTo(Duration.ofSeconds(2)) < 0) {
			throw new IllegalArgumentException(
					"A lease of %s is too short; the shortest is PT2S".formatted(options.lease()));
		}
		if (options.minHold() != null && options.minHold().compareTo(Duration.ofMinutes(5)) > 0) {
			throw new IllegalArgumentException(
					"The minimum hold %s is longer than the lease".formatted(options.minHold()));
		}
	}

	@Override
	public LockEngine.Attempt acquire(String name, LockOptions options) {
		String fullName = fullName(name);
		check(name, options);
		this.options.add(options);
		this.optionsByName.put(fullName, options);
		if (this.closing) {
			throw new LockShutdownException(fullName);
		}
		this.threads.put(fullName, Thread.currentThread());
		if (this.heldElsewhere.contains(fullName)) {
			this.events.add("refuse " + fullName);
			return new LockEngine.Refused(
					new LockRefusal(fullName, null, Duration.ZERO, null, this.jobs.get(fullName)));
		}
		this.events.add("lock " + fullName);
		Handle handle = new Handle(fullName);
		this.held.put(fullName, handle);
		return new LockEngine.Granted(handle);
	}

	@Override
	public AskAnswer ask(String name) {
		if (!this.heldElsewhere.contains(fullName(name))) {
			return AskAnswer.NO_HOLDER;
		}
		this.events.add("ask " + name);
		return AskAnswer.ASKED;
	}

	@Override
	public Optional<LockHandle> keptByTransaction(String fullName) {
		return Optional.empty();
	}

	@Override
	public LockAdministration administration() {
		throw new UnsupportedOperationException();
	}

	private final class Handle implements LockHandle {

		private final String name;

		private final List<Consumer<LossReason>> callbacks = new CopyOnWriteArrayList<>();

		private volatile boolean lost;

		Handle(String name) {
			this.name = name;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public long token() {
			return 1;
		}

		@Override
		public boolean isHeld() {
			return RecordingEngine.this.held.containsKey(this.name);
		}

		@Override
		public Duration remaining() {
			return Duration.ofSeconds(30);
		}

		@Override
		public void ensureHeld() {
			if (this.lost) {
				throw new LockLostException(this.name, 1, LossReason.EXPIRED);
			}
		}

		@Override
		public void renew() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void extend(Duration atLeast, Duration minHold) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void startRenewal() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void stopRenewal() {
			throw new UnsupportedOperationException();
		}

		@Override
		public void onLost(Consumer<LossReason> callback) {
			this.callbacks.add(callback);
		}

		@Override
		public void keepUntilShutdown() {
		}

		void lose() {
			this.lost = true;
			this.callbacks.forEach((callback) -> callback.accept(LossReason.TAKEN_OVER));
		}

		@Override
		public boolean release() {
			close();
			return true;
		}

		@Override
		public void close() {
			RecordingEngine.this.held.remove(this.name, this);
			RecordingEngine.this.events.add("unlock " + this.name);
			ensureHeld();
		}

	}

}
