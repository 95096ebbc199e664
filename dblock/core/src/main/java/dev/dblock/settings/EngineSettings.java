package dev.dblock.settings;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.store.AcquireRequest;
import dev.dblock.support.Durations;

import org.springframework.util.Assert;

/**
 * The settings of an engine.
 *
 * @param namePrefix the prefix of every lock name
 * @param acquirer the name of this instance in the documents of the locks that it
 * acquires
 * @param defaults the defaults for all options that a caller does not set; complete
 * @param timeout how long one request to the store may take
 * @param poll how often a waiting caller asks again if it receives no notification
 * @param handOff how long a lock is handed over inside the process
 * @param locks the settings for single locks
 * @param callPrefix the prefix between {@code namePrefix} and a name that depends on the
 * call
 */
public record EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout, Poll poll,
		HandOff handOff, LockSettings locks, LockNamePrefix callPrefix) {

	private static final Duration LONGEST = Duration.ofDays(365);

	/**
	 * Check that this instance has a name, and the timeout; the other settings are
	 * checked where they are used.
	 * @throws IllegalArgumentException if the acquirer is empty or blank, or the timeout
	 * is not positive or longer than 365 days
	 */
	public EngineSettings {
		Assert.hasText(acquirer, "The acquirer, which identifies this instance in its locks, must not be empty");
		Assert.isTrue(!timeout.isNegative() && !timeout.isZero(),
				() -> "The timeout must be positive, but is " + Durations.written(timeout));
		refuseLong("timeout", timeout);
	}

	private static void refuseLong(String setting, Duration value) {
		Assert.isTrue(value.compareTo(LONGEST) <= 0, () -> "The %s must be at most %s, but is %s".formatted(setting,
				Durations.written(LONGEST), Durations.written(value)));
	}

	/**
	 * Create settings that are the same for all locks.
	 * @param namePrefix the prefix of every lock name
	 * @param acquirer the name of this instance in the documents of the locks that it
	 * acquires
	 * @param defaults the defaults for all options that a caller does not set; complete
	 * @param timeout how long one request to the store may take
	 * @param poll how often a waiting caller asks again if it receives no notification
	 * @param handOff how long a lock is handed over inside the process
	 */
	public EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout, Poll poll,
			HandOff handOff) {
		this(namePrefix, acquirer, defaults, timeout, poll, handOff, LockSettings.NONE, (name) -> "");
	}

	/**
	 * The settings that an application with Spring Boot has by default: a lease of 30 s
	 * that is renewed, no wait, no minimum hold, and requests of at most 10 s.
	 * @param acquirer the name of this instance in the documents of its locks
	 * @return the settings
	 */
	public static EngineSettings defaults(String acquirer) {
		LockOptions options = new LockOptions(Duration.ofSeconds(30), Duration.ZERO, Duration.ZERO, Duration.ZERO, true,
				WhenLost.NOTIFY, null, null);
		return new EngineSettings("", acquirer, options, Duration.ofSeconds(10),
				new Poll(Duration.ofMillis(50), Duration.ofSeconds(1)), new HandOff(10_000, Duration.ofMillis(100)));
	}

	/**
	 * Set the name of this instance.
	 * @param acquirer its name in the documents of the locks that it acquires
	 * @return a copy with it
	 */
	public EngineSettings withAcquirer(String acquirer) {
		return new EngineSettings(this.namePrefix, acquirer, this.defaults, this.timeout, this.poll, this.handOff,
				this.locks, this.callPrefix);
	}

	/**
	 * Set the defaults.
	 * @param defaults the defaults for all options that a caller does not set; completed
	 * by the defaults of these settings
	 * @return a copy with them
	 */
	public EngineSettings withDefaults(LockOptions defaults) {
		return new EngineSettings(this.namePrefix, this.acquirer, defaults.orElse(this.defaults), this.timeout,
				this.poll, this.handOff, this.locks, this.callPrefix);
	}

	/**
	 * Return the name under which the store keeps a lock.
	 * @param name the name as used by the application
	 * @return the full name, including the prefixes
	 * @throws IllegalArgumentException if the name is invalid, with the reason
	 */
	public String fullName(String name) {
		LockNames.refuseBlank(name);
		String fullName = this.namePrefix + this.callPrefix.prefixOf(name) + name;
		LockNames.checkCharacters(fullName);
		return fullName;
	}

	/**
	 * Determine the prefixes of names in the current thread, for a request in another
	 * thread.
	 * @param names the names as used by the application
	 * @return a copy in which these names have the same prefixes in every thread
	 * @throws IllegalArgumentException if a name is blank
	 */
	public EngineSettings resolved(Collection<String> names) {
		Map<String, String> prefixes = new HashMap<>();
		for (String name : names) {
			LockNames.refuseBlank(name);
			prefixes.put(name, this.callPrefix.prefixOf(name));
		}
		return new EngineSettings(this.namePrefix, this.acquirer, this.defaults, this.timeout, this.poll, this.handOff,
				this.locks, (name) -> {
					String prefix = prefixes.get(name);
					return (prefix != null) ? prefix : this.callPrefix.prefixOf(name);
				});
	}

	/**
	 * Check the prefix of every lock name and the defaults.
	 * @return these settings
	 * @throws IllegalArgumentException if no lock could be acquired with them
	 */
	public EngineSettings checked() {
		try {
			LockNames.checkCharacters(this.namePrefix + "n");
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(
					"The configured name prefix is not valid for any lock: " + ex.getMessage(), ex);
		}
		LeaseTerms.of(this.defaults);
		return this;
	}

	/**
	 * Check a declared name, and options for all names that it can become.
	 * @param shape the name, with {@link LockSettings#ANYTHING} for each part that only a
	 * call determines
	 * @param options the options that the code sets
	 * @throws IllegalArgumentException if the name or the options are invalid
	 */
	public void check(String shape, LockOptions options) {
		// A caller without null checks may pass null, which is reported as an invalid
		// name
		boolean complete = shape == null || shape.indexOf(LockSettings.ANYTHING) < 0;
		if (complete) {
			LockNames.refuseBlank(shape);
			LockNames.checkCharacters(this.namePrefix + shape);
		}
		for (String name : this.locks.namesCoveredBy(shape)) {
			LeaseTerms terms = this.locks.terms(name, options.orElse(this.defaults));
			if (complete) {
				LockNames.checkPermits(this.namePrefix + name, terms.permits());
			}
		}
	}

	/**
	 * Return the terms on which a lock is acquired and held.
	 * @param name the name as used by the application
	 * @param wanted the options, including the settings for the name
	 * @return the terms
	 * @throws IllegalArgumentException if the options are invalid, or the name is not
	 * valid with them
	 */
	public LeaseTerms terms(String name, LockOptions wanted) {
		LeaseTerms terms;
		try {
			terms = LeaseTerms.of(wanted.orElse(this.defaults));
		}
		catch (IllegalArgumentException ex) {
			throw this.locks.explained(name, ex);
		}
		// The name of a permit ends like this. That of a caller without null checks may
		// be
		// null, which the check reports
		if (terms.permits() > 1 || name == null || name.endsWith(")")) {
			LockNames.checkPermits(fullName(name), terms.permits());
		}
		return terms;
	}

	/**
	 * Settings for waiting callers that ask again without a notification.
	 *
	 * @param minInterval the pause after the first refusal
	 * @param maxInterval the longest pause; pauses double up to it and are jittered
	 * @param always whether callers poll even if the store reports releases, so that the
	 * store does not have to report them to this process
	 */
	public record Poll(Duration minInterval, Duration maxInterval, boolean always) {

		/**
		 * Check that the pauses are positive, in order, and at most 365 days.
		 * @throws IllegalArgumentException if they are not
		 */
		public Poll {
			if (minInterval.isNegative() || minInterval.isZero()) {
				throw new IllegalArgumentException(
						"The minimum poll interval must be positive, but is " + Durations.written(minInterval));
			}
			if (maxInterval.compareTo(minInterval) < 0) {
				throw new IllegalArgumentException("The maximum poll interval (%s) must not be below the minimum (%s)"
					.formatted(Durations.written(maxInterval), Durations.written(minInterval)));
			}
			refuseLong("maximum poll interval", maxInterval);
		}

		/**
		 * Create settings for callers that poll only while the store does not report
		 * releases.
		 * @param minInterval the pause after the first refusal
		 * @param maxInterval the longest pause
		 * @throws IllegalArgumentException if the pauses are not positive and in order
		 */
		public Poll(Duration minInterval, Duration maxInterval) {
			this(minInterval, maxInterval, false);
		}

	}

	/**
	 * Limits for handing a lock over inside the process before other processes get their
	 * turn.
	 *
	 * @param maxCount the maximum number of hand-overs in a row; zero disables handing
	 * over
	 * @param maxTime the maximum duration of hand-overs in a row; zero disables handing
	 * over
	 */
	public record HandOff(int maxCount, Duration maxTime) {

		private static final long MOST_MILLIS = 1000;

		/**
		 * Check that neither is negative, and that the duration is at most 365 days.
		 * @throws IllegalArgumentException if that is not so
		 */
		public HandOff {
			if (maxCount < 0) {
				throw new IllegalArgumentException(
						"The hand-over count must not be negative, but is %d (zero disables hand-over)"
							.formatted(maxCount));
			}
			if (maxTime.isNegative()) {
				throw new IllegalArgumentException(
						"The hand-over time must not be negative, but is %s (zero disables hand-over)"
							.formatted(Durations.written(maxTime)));
			}
			refuseLong("hand-over time", maxTime);
		}

		/**
		 * Return how many fencing tokens to reserve if threads of this process wait for
		 * the lock. The number must not exceed what the store's clock counts while the
		 * lock is handed over here, or the tokens would run ahead of that clock. So it is
		 * twice the number that was needed under the last grant, which the clock counts
		 * at two microseconds for each of those.
		 * @param handOvers how often the lock was handed over under the last grant
		 */
		public int tokens(int handOvers) {
			long most = Math.min(Math.min(this.maxTime.toMillis(), MOST_MILLIS) * AcquireRequest.USUAL_TOKENS,
					this.maxCount + 1L);
			return (int) Math.max(AcquireRequest.USUAL_TOKENS, Math.min(most, 2 * (handOvers + 1L)));
		}

	}

}
