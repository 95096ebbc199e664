package dev.dblock.core;

import java.time.Duration;

import dev.dblock.LockOptions;

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
 */
public record EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout,
		PollSettings poll, HandOffSettings handOff, LockSettings locks) {

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
		this(namePrefix, acquirer, defaults, timeout, poll, handOff, LockSettings.NONE);
	}

	/**
	 * How a lock is to be acquired and held.
	 * @param name the name as the application says it
	 * @param wanted the options, with what is set for the name
	 * @return the terms
	 * @throws IllegalArgumentException when they cannot be
	 */
	LeaseTerms terms(String name, LockOptions wanted) {
		try {
			return LeaseTerms.of(wanted.orElse(this.defaults));
		}
		catch (IllegalArgumentException ex) {
			throw this.locks.explained(name, ex);
		}
	}

}
