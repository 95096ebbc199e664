package dev.dblock.reactive;

import java.util.function.Consumer;

import dev.dblock.LockLostException;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.Hold;
import dev.dblock.reactive.ReactiveLockTemplate.LockRequest;
import dev.dblock.support.CallThreads;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * One subscription to a sequence under a lock. Acquires the lock, subscribes to the
 * sequence, and releases the lock when the sequence ends for any reason. Never blocks the
 * thread that subscribes, signals or cancels.
 *
 * @param <T> the type of the elements
 */
final class LockedSubscription<T> implements CoreSubscriber<T>, Subscription {

	private static final Logger logger = LoggerFactory.getLogger(LockedSubscription.class);

	private LockRequest request;

	private final CoreSubscriber<? super T> actual;

	private final boolean single;

	private final LockedAction<? extends Publisher<T>> work;

	private final LockedFallback<? extends Publisher<T>> fallback;

	// The sequence under the lock

	private final LaterSubscription upstream = new LaterSubscription();

	private @Nullable T result;

	private volatile boolean ended;

	// The lock

	private final Consumer<LossReason> news = (reason) -> CallThreads.executeCallback(this::lost);

	private volatile @Nullable Hold hold;

	/** Ends the re-entry, if the lock was already held. */
	private volatile Runnable reentry = () -> {
	};

	/** Whether the lock is acquired for this work. */
	private boolean acquirer;

	/** Whether the lock was acquired for work that has not begun. */
	private boolean unused;

	/** The work, if it can continue after its sequence has ended. */
	private volatile @Nullable PendingWork pending;

	private boolean left;

	// The beginning of the work

	/** The thread that acquires the lock and begins the work. */
	private @Nullable Thread beginner;

	/** Whether that thread has begun the work, and must not be interrupted. */
	private boolean working;

	/** The action that runs when the beginner has done its part. */
	private @Nullable Runnable afterBeginning;

	LockedSubscription(LockRequest request, CoreSubscriber<? super T> actual, boolean single,
			LockedAction<? extends Publisher<T>> work, LockedFallback<? extends Publisher<T>> fallback) {
		this.request = request;
		this.actual = Operators.serialize(actual);
		this.single = single;
		this.work = work;
		this.fallback = fallback;
	}

	void begin() {
		Hold joined;
		try {
			this.request = this.request.in(this.actual.currentContext());
			joined = this.request.joined(this.actual.currentContext());
		}
		catch (RuntimeException ex) {
			Operators.error(this.actual, ex);
			return;
		}
		this.acquirer = joined == null;
		this.hold = joined;
		this.actual.onSubscribe(this);
		CallThreads.execute(Schedulers.onSchedule(this::acquire));
	}

	private void acquire() {
		synchronized (this) {
			if (this.ended) {
				return;
			}
			this.beginner = Thread.currentThread();
		}
		try {
			beginWork();
		}
		catch (Throwable ex) {
			failed(ex);
			if (this.unused) {
				releaseUnseen();
			}
		}
		finally {
			begun();
		}
	}

	private void begun() {
		Runnable next;
		synchronized (this) {
			this.beginner = null;
			this.working = false;
			next = this.afterBeginning;
		}
		if (next != null) {
			onceEnded(next);
		}
	}

	private void beginWork() throws Throwable {
		Hold joined = this.hold;
		if (joined != null) {
			this.reentry = this.request.reenter(joined);
			beginUnder(joined);
			return;
		}
		LockEngine.Attempt attempt = this.request.engine().acquire(this.request.name(), this.request.options());
		if (attempt instanceof LockEngine.Granted grant) {
			Hold granted = Hold.owned(this.request.engine(), grant.handle());
			this.unused = true;
			granted.detach();
			beginUnder(granted);
		}
		else if (startWorking(null)) {
			this.fallback.unavailable(((LockEngine.Refused) attempt).refusal()).subscribe(this);
		}
	}

	/**
	 * Begin the work under a lock. Only the call of the action counts as work of this
	 * thread under the lock. Elements that are emitted during the subscription already
	 * belong to their subscribers.
	 */
	private void beginUnder(Hold granted) throws Throwable {
		if (!startWorking(granted)) {
			releaseUnseen();
			return;
		}
		if (this.request.whenLost() == WhenLost.INTERRUPT) {
			granted.onLost(this.news);
		}
		Runnable leaveTransaction = this.request.joinTransaction(this.actual.currentContext(), granted);
		if (isEnded()) {
			leaveTransaction.run();
			releaseUnseen();
			return;
		}
		this.unused = false;
		Publisher<T> made = DefaultLockTemplate.attached(granted, this.work::run);
		this.pending = (made instanceof PendingWork pending) ? pending : null;
		made.subscribe(this);
	}

	/**
	 * End the wait and begin the work.
	 * @return {@code false} if the result is no longer wanted
	 */
	private synchronized boolean startWorking(@Nullable Hold granted) {
		this.hold = granted;
		this.working = !this.ended;
		return this.working;
	}

	/**
	 * Whether the result is no longer wanted. A transaction that ends with the sequence
	 * is notified after this subscription, and knows all locks that joined before. It may
	 * not know a lock that joins afterwards.
	 */
	private synchronized boolean isEnded() {
		return this.ended;
	}

	/**
	 * End the subscription if the work failed before it returned a sequence, or if its
	 * lock could not be acquired.
	 */
	private void failed(Throwable ex) {
		if (end()) {
			cancelSource();
			finishLater(() -> finish(ex));
		}
		else {
			logger.debug("A sequence under the lock '{}' was cancelled as it began", this.request.name(), ex);
		}
	}

	@Override
	public Context currentContext() {
		Context context = this.actual.currentContext();
		Hold current = this.hold;
		return (current != null) ? ReactiveScope.enter(context, current) : context;
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		this.upstream.set(subscription);
	}

	@Override
	public void onNext(T element) {
		if (this.ended) {
			Operators.onDiscard(element, this.actual.currentContext());
		}
		else if (!this.single) {
			this.actual.onNext(element);
		}
		else {
			discardResult();
			keepResult(element);
			if (this.ended) {
				discardResult();
			}
		}
	}

	private synchronized void keepResult(T element) {
		this.result = element;
	}

	private void discardResult() {
		T unseen = takeResult();
		if (unseen != null) {
			Operators.onDiscard(unseen, this.actual.currentContext());
		}
	}

	private synchronized @Nullable T takeResult() {
		T taken = this.result;
		this.result = null;
		return taken;
	}

	@Override
	public void onError(Throwable ex) {
		if (end()) {
			finishLater(() -> finish(ex));
		}
		else {
			Operators.onErrorDropped(ex, this.actual.currentContext());
		}
	}

	@Override
	public void onComplete() {
		if (end()) {
			finishLater(() -> finish(null));
		}
	}

	@Override
	public void request(long n) {
		if (Operators.validate(n)) {
			this.upstream.request(this.single ? Long.MAX_VALUE : n);
		}
	}

	/**
	 * Mark the subscription as ended.
	 * @return {@code true} at the first call only
	 */
	private synchronized boolean end() {
		boolean first = !this.ended;
		this.ended = true;
		return first;
	}

	@Override
	public void cancel() {
		if (!end()) {
			return;
		}
		synchronized (this) {
			if (this.beginner != null && !this.working) {
				this.beginner.interrupt();
			}
		}
		cancelSource();
		finishLater(this::releaseUnseen);
	}

	/**
	 * Cancel the source. The lock is released even if the source cannot be cancelled.
	 */
	private void cancelSource() {
		try {
			this.upstream.cancel();
		}
		catch (RuntimeException | Error ex) {
			FailureLog.warn(logger, ex,
					"A sequence under the lock '{}' could not be cancelled, so its work may continue; the lock is"
							+ " released anyway",
					this.request.name());
		}
	}

	private void releaseUnseen() {
		discardResult();
		Hold held = leaving();
		try {
			if (held != null && this.unused) {
				held.releaseUnused();
			}
			else if (held != null) {
				recordFailure(held, new InterruptedException("The sequence was cancelled"));
				held.leave();
			}
		}
		catch (LockLostException ex) {
			logger.debug("The lock of a cancelled sequence was already lost", ex);
		}
	}

	private void recordFailure(Hold held, Throwable failure) {
		if (this.acquirer) {
			held.recordFailure(failure);
		}
	}

	/**
	 * Return the hold to the first caller, which has to release it, and {@code null} to
	 * all others.
	 */
	private synchronized @Nullable Hold leaving() {
		Hold held = this.left ? null : this.hold;
		if (held != null) {
			this.left = true;
			this.reentry.run();
			held.forget(this.news);
		}
		return held;
	}

	/**
	 * Report a loss to the subscriber immediately, even while the thread that began the
	 * work is still in the action.
	 */
	private void lost() {
		LockLostException loss = loss();
		if (loss != null && end()) {
			cancelSource();
			finishLater(this::releaseUnseen);
			this.actual.onError(loss);
		}
	}

	private @Nullable LockLostException loss() {
		Hold held = this.hold;
		try {
			if (held != null) {
				held.handle().ensureHeld();
			}
			return null;
		}
		catch (LockLostException ex) {
			return ex;
		}
	}

	/**
	 * Finish in another thread, since a release takes a request and the current thread
	 * may be one that must not block. The lock is not released while the thread that
	 * began the work may still be in the action, nor before pending work has ended.
	 */
	private void finishLater(Runnable finish) {
		synchronized (this) {
			if (this.beginner != null) {
				this.afterBeginning = finish;
				return;
			}
		}
		onceEnded(() -> {
			Hold held = this.hold;
			if (held != null) {
				held.aboutToLeave();
			}
			CallThreads.execute(Schedulers.onSchedule(finish));
		});
	}

	private void onceEnded(Runnable finish) {
		PendingWork work = this.pending;
		if (work != null) {
			work.whenEnded(finish);
		}
		else {
			finish.run();
		}
	}

	private void finish(@Nullable Throwable failure) {
		Hold held = leaving();
		if (held != null && failure != null) {
			recordFailure(held, failure);
		}
		Throwable outcome = (held != null) ? held.end(failure) : failure;
		if (outcome != null) {
			discardResult();
			this.actual.onError(outcome);
			return;
		}
		T last = takeResult();
		if (last != null) {
			this.actual.onNext(last);
		}
		this.actual.onComplete();
	}

}
