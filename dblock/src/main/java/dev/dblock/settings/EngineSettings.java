package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;

import org.springframework.util.Assert;

/**
 * What an engine is set to.
 *
 * @param namePrefix what is put before every name
 * @param acquirer how this instance is called in the documents of the locks it takes
 * @param defaults the options for whatever a caller leaves out; complete
 * @param timeout how long one request to the store may take
 * @param poll how a waiter asks again where nothing wakes it
 * @param handOff how far a lock is handed on inside the process
 * @param locks what is set for single locks
 * @param callPrefix what is put between the prefix and a name, as far as that depends on
 * the call
 */
public record EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout,
		PollSettings poll, HandOffSettings handOff, LockSettings locks, LockNamePrefix callPrefix) {

	/**
	 * Check that this instance has a name; what is wrong with the rest shows where it is
	 * used.
	 * @throws IllegalArgumentException when the acquirer is empty or blank
	 */
	public EngineSettings {
		Assert.hasText(acquirer, "The acquirer, which is how this instance is called in its locks, must not be empty");
	}

	/**
	 * Settings that are the same for all locks.
	 * @param namePrefix what is put before every name
	 * @param acquirer how this instance is called in the documents of the locks it takes
	 * @param defaults the options for whatever a caller leaves out; complete
	 * @param timeout how long one request to the store may take
	 * @param poll how a waiter asks again where nothing wakes it
	 * @param handOff how far a lock is handed on inside the process
	 */
	public EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout, PollSettings poll,
			HandOffSettings handOff) {
		this(namePrefix, acquirer, defaults, timeout, poll, handOff, LockSettings.NONE, (name) -> "");
	}

	/**
	 * Set how this instance is called.
	 * @param acquirer how it is called in the documents of the locks it takes
	 * @return a copy with it
	 */
	public EngineSettings withAcquirer(String acquirer) {
		return new EngineSettings(this.namePrefix, acquirer, this.defaults, this.timeout, this.poll, this.handOff,
				this.locks, this.callPrefix);
	}

	/**
	 * Set the defaults.
	 * @param defaults the options for whatever a caller leaves out; completed by those
	 * that these settings have
	 * @return a copy with them
	 */
	public EngineSettings withDefaults(LockOptions defaults) {
		return new EngineSettings(this.namePrefix, this.acquirer, defaults.orElse(this.defaults), this.timeout,
				this.poll, this.handOff, this.locks, this.callPrefix);
	}

	public LockNames names() {
		return new LockNames(this.namePrefix, this.callPrefix);
	}

	/**
	 * Check options for all that a declared name can become.
	 * @param shape the name, with {@link LockSettings#ANYTHING} for each part that only a
	 * call can tell
	 * @param options the options that the code gives
	 * @throws IllegalArgumentException when they cannot be
	 */
	public void check(String shape, LockOptions options) {
		this.locks.namesCoveredBy(shape).forEach((name) -> terms(name, this.locks.before(name, options)));
	}

	/**
	 * How a lock is to be acquired and held.
	 * @param name the name as the application says it
	 * @param wanted the options, with what is set for the name
	 * @return the terms
	 * @throws IllegalArgumentException when they cannot be
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
