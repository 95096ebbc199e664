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
 */
public record EngineSettings(String namePrefix, String acquirer, LockOptions defaults, Duration timeout,
		PollSettings poll, HandOffSettings handOff) {
}
