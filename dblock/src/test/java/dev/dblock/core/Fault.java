package dev.dblock.core;

import java.util.function.Supplier;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

/**
 * A fault of a request on its way to the store, or of its answer.
 */
@FunctionalInterface
interface Fault {

	Fault NO_SERVER = lost(() -> new DataAccessResourceFailureException("no server"));

	/**
	 * Handle the request in place of the store.
	 * @param request the request
	 * @param store applies the request and gives its answer
	 * @return the answer that the engine gets
	 */
	Object answer(Request request, Supplier<Object> store);

	/**
	 * The request never arrives.
	 */
	static Fault lost(Supplier<? extends Throwable> failure) {
		return (request, store) -> {
			throw sneaky(failure.get());
		};
	}

	/**
	 * The request is applied, its answer never arrives.
	 */
	static Fault answerLost(Supplier<? extends Throwable> failure) {
		return (request, store) -> {
			Object lost = store.get();
			throw sneaky(failure.get());
		};
	}

	/**
	 * The request waits before it reaches the store.
	 */
	static Fault heldUp(Gate gate) {
		return (request, store) -> {
			gate.pass();
			return store.get();
		};
	}

	/**
	 * The answer waits on its way back.
	 */
	static Fault answerHeldUp(Gate gate) {
		return (request, store) -> {
			Object answer = store.get();
			gate.pass();
			return answer;
		};
	}

	/**
	 * Something happens before the request reaches the store.
	 */
	static Fault after(Runnable event) {
		return (request, store) -> {
			event.run();
			return store.get();
		};
	}

	/**
	 * Something happens between the store's answer and its arrival.
	 */
	static Fault before(Runnable event) {
		return (request, store) -> {
			Object answer = store.get();
			event.run();
			return answer;
		};
	}

	/**
	 * The engine gets this answer in place of the store's.
	 */
	static Fault stale(Object answer) {
		return (request, store) -> answer;
	}

	static Supplier<QueryTimeoutException> timeout() {
		return () -> new QueryTimeoutException("scripted: the time limit ran out");
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> E sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

}
