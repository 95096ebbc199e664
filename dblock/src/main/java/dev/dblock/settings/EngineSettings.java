package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;

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
public record EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout,
		PollSettings poll, HandOffSettings handOff, LockSettings locks, LockNamePrefix callPrefix) {

	/**
	 * Check that this instance has a name; the other settings are checked where they are
	 * used.
	 * @throws IllegalArgumentException if the acquirer is empty or blank
	 */
	public EngineSettings {
		Assert.hasText(acquirer, "The acquirer, which identifies this instance in its locks, must not be empty");
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
	public EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout, PollSettings poll,
			HandOffSettings handOff) {
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
				new PollSettings(Duration.ofMillis(50), Duration.ofSeconds(1)),
				new HandOffSettings(10_000, Duration.ofMillis(100)));
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
		if (shape == null || shape.indexOf(LockSettings.ANYTHING) < 0) {
			LockNames.refuseBlank(shape);
			LockNames.checkCharacters(this.namePrefix + shape);
		}
		this.locks.namesCoveredBy(shape).forEach((name) -> this.locks.terms(name, options.orElse(this.defaults)));
	}

	/**
	 * Return the terms on which a lock is acquired and held.
	 * @param name the name as used by the application
	 * @param wanted the options, including the settings for the name
	 * @return the terms
	 * @throws IllegalArgumentException if the options are invalid
	 */
	public LeaseTerms terms(String name, LockOptions wanted) {
		try {
			return LeaseTerms.of(wanted.orElse(this.defaults));
		}
		catch (IllegalArgumentException ex) {
			throw this.locks.explained(name, ex);
		}
	}

}
