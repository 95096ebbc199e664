package dev.dblock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.reactive.TransactionContext;

/**
 * Engine that acquires several locks as if they were one.
 */
final class SeveralEngine implements LockEngine {

	private final LockEngine engine;

	private final Map<String, LockOptions> locks;

	private final SeveralLocks.@Nullable ReactiveHolds around;

	SeveralEngine(LockEngine engine, Map<String, LockOptions> locks) {
		this(engine, new LinkedHashMap<>(locks), null);
	}

	private SeveralEngine(LockEngine engine, Map<String, LockOptions> locks,
			SeveralLocks.@Nullable ReactiveHolds around) {
		this.engine = engine;
		this.locks = locks;
		this.around = around;
	}

	/**
	 * Return an engine for one sequence. It acquires the locks in another thread. The
	 * sequence may already work under locks: those of its context, of the subscribing
	 * thread, and of its reactive transaction.
	 */
	SeveralEngine in(@Nullable ReactiveScope scope, @Nullable TransactionContext transaction) {
		Map<String, Hold> holds = new HashMap<>();
		for (String name : this.locks.keySet()) {
			String fullName = this.engine.fullName(name);
			Hold hold = ReactiveScope.find(scope, this.engine, fullName);
			if (hold == null) {
				hold = ReactiveScope.kept(this.engine, fullName, transaction);
			}
			if (hold != null) {
				holds.put(fullName, hold);
			}
		}
		return new SeveralEngine(this.engine, this.locks, holds::get);
	}

	@Override
	public String fullName(String name) {
		return name;
	}

	@Override
	public void check(LockOptions options) {
		this.locks.forEach(this.engine::check);
	}

	@Override
	public WhenLost whenLost(String name, LockOptions options) {
		boolean interrupts = this.locks.entrySet()
			.stream()
			.anyMatch((lock) -> this.engine.whenLost(lock.getKey(), lock.getValue()) == WhenLost.INTERRUPT);
		return interrupts ? WhenLost.INTERRUPT : WhenLost.NOTIFY;
	}

	@Override
	public LockAttempt acquire(String name, LockOptions options) {
		SeveralLocks several = new SeveralLocks(this.engine, this.locks, this.around);
		LockRefusal refusal = several.acquire();
		return (refusal != null) ? refusal : new LockGrant(several.handles());
	}

	@Override
	public void giveBack(LockHandle handle) {
		((LockHandleSet) handle).giveBack();
	}

	@Override
	public Optional<LockHandle> keptByTransaction(String fullName) {
		return Optional.empty();
	}

	@Override
	public Runnable joinTransaction(LockHandle handle, TransactionContext transaction) {
		List<Runnable> joined = new ArrayList<>();
		Runnable leave = () -> joined.forEach(Runnable::run);
		try {
			((LockHandleSet) handle).parts()
				.forEach((part) -> joined.add(this.engine.joinTransaction(part.handle(), transaction)));
		}
		catch (RuntimeException ex) {
			leave.run();
			throw ex;
		}
		return leave;
	}

	@Override
	public void attach(LockHandle handle) {
		((LockHandleSet) handle).attach();
	}

	@Override
	public void detach(LockHandle handle) {
		((LockHandleSet) handle).detach();
	}

	@Override
	public void aboutToRelease(LockHandle handle) {
		((LockHandleSet) handle).parts().forEach(Hold::aboutToLeave);
	}

	@Override
	public Optional<LockInfo> inspect(String name) {
		return this.engine.inspect(name);
	}

	@Override
	public List<LockInfo> list() {
		return this.engine.list();
	}

	@Override
	public boolean forceRelease(String name) {
		return this.engine.forceRelease(name);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.engine.forceReleaseNow(name);
	}

}
