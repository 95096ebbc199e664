package dev.dblock.execution;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.WhenLost;
import dev.dblock.engine.LockAttempt;
import dev.dblock.engine.LockEngine;
import dev.dblock.store.LockAdministration;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.reactive.TransactionContext;

/**
 * Engine that acquires several locks as if they were one.
 */
public final class SeveralEngine implements LockEngine {

	private final LockEngine engine;

	private final Map<String, LockOptions> locks;

	private final @Nullable Map<String, Hold> around;

	SeveralEngine(LockEngine engine, Map<String, LockOptions> locks) {
		this(engine, new LinkedHashMap<>(locks), null);
	}

	private SeveralEngine(LockEngine engine, Map<String, LockOptions> locks, @Nullable Map<String, Hold> around) {
		this.engine = engine;
		this.locks = locks;
		this.around = around;
	}

	/**
	 * Return an engine for one sequence. It acquires the locks in another thread. The
	 * sequence may already work under locks: those of its context, of the subscribing
	 * thread, and of its reactive transaction.
	 * @param around finds the lock with a full name under which the sequence works
	 * @return the engine
	 */
	public SeveralEngine in(BiFunction<LockEngine, String, @Nullable Hold> around) {
		Map<String, Hold> holds = new HashMap<>();
		for (String name : this.locks.keySet()) {
			String fullName = this.engine.fullName(name);
			Hold hold = around.apply(this.engine, fullName);
			if (hold != null) {
				holds.put(fullName, hold);
			}
		}
		return new SeveralEngine(this.engine, this.locks, holds);
	}

	@Override
	public String fullName(String name) {
		return name;
	}

	@Override
	public void check(String name, LockOptions options) {
		this.locks.forEach(this.engine::check);
	}

	/**
	 * Return the options with the strictest of what happens at a loss.
	 */
	@Override
	public LockOptions complete(String name, LockOptions options) {
		boolean interrupts = this.locks.entrySet()
			.stream()
			.anyMatch((lock) -> this.engine.complete(lock.getKey(), lock.getValue()).whenLost() == WhenLost.INTERRUPT);
		return options.whenLost(interrupts ? WhenLost.INTERRUPT : WhenLost.NOTIFY);
	}

	@Override
	public LockAttempt acquire(String name, LockOptions options) {
		SeveralLocks several = new SeveralLocks(this.engine, this.locks, this.around);
		LockRefusal refusal = several.acquire();
		return (refusal != null) ? new LockAttempt.Refused(refusal) : new LockAttempt.Granted(several.handles());
	}

	@Override
	public Optional<LockHandle> keptByTransaction(String fullName, @Nullable TransactionContext transaction) {
		return Optional.empty();
	}

	/**
	 * Return the engine of the locks, which can acquire and administer each of them.
	 */
	LockEngine single() {
		return this.engine;
	}

	@Override
	public LockAdministration administration() {
		return this.engine.administration();
	}

}
