package dev.dblock;

import java.util.concurrent.CancellationException;

import dev.dblock.ReactiveLockTemplate.LockRequest;
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
 * One subscription to a sequence under a lock: acquires it, subscribes to the sequence,
 * and gives the lock back at its end, whoever brings that about. Nothing here blocks the
 * thread of whoever subscribes, signals or cancels.
 *
 * @param <T> the type of the elements
 */
final class LockedSubscription<T> implements CoreSubscriber<T>, Subscription {

	private static final Logger logger = LoggerFactory.getLogger(LockedSubscription.class);

	private LockRequest request;

	private final CoreSubscriber<? super T> actual;

	private final boolean single;

	private final LockedAction<? extends Publisher<T>, ?> work;

	private final LockedFallback<? extends Publisher<T>, ?> fallback;

	private final Runnable news = () -> LockThreads.executeCallback(this::lost);

	private final LaterSubscription upstream = new LaterSubscription();

	private @Nullable T result;

	private volatile @Nullable Hold hold;

	/** Ends what the re-entry has begun, where the lock was held already. */
	private volatile Runnable reentry = () -> {
	};

	private boolean givenBack;

	/** Whether the lock was acquired for work that has not begun. */
	private boolean unused;

	/** The thread that acquires the lock and begins the work. */
	private @Nullable Thread beginner;

	/** Whether that thread is at the work already, and not to be disturbed. */
	private boolean working;

	/** What is to happen when the beginner has done its part. */
	private @Nullable Runnable afterBeginning;

	private volatile boolean ended;

	LockedSubscription(LockRequest request, CoreSubscriber<? super T> actual, boolean single,
			LockedAction<? extends Publisher<T>, ?> work, LockedFallback<? extends Publisher<T>, ?> fallback) {
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
		this.hold = joined;
		this.actual.onSubscribe(this);
		LockThreads.execute(Schedulers.onSchedule(this::acquire));
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
				giveBackUnseen();
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
			next.run();
		}
	}

	private void beginWork() throws Throwable {
		Hold joined = this.hold;
		if (joined != null) {
			this.reentry = this.request.reenter(joined.handle());
			beginUnder(joined);
			return;
		}
		LockAttempt attempt = this.request.engine().acquire(this.request.name(), this.request.options());
		if (attempt instanceof LockGrant grant) {
			Hold granted = Hold.owned(this.request.engine(), grant.handle());
			this.unused = true;
			this.request.engine().detach(grant.handle());
			beginUnder(granted);
		}
		else if (startWorking(null)) {
			this.fallback.unavailable((LockRefusal) attempt).subscribe(this);
		}
	}

	/**
	 * What is emitted as the sequence is subscribed to is already the business of those
	 * who get it, so only what the method itself does is work of this thread under the
	 * lock.
	 */
	private void beginUnder(Hold granted) throws Throwable {
		if (!startWorking(granted)) {
			giveBackUnseen();
			return;
		}
		if (this.request.whenLost() == WhenLost.INTERRUPT) {
			granted.onLost(this.news);
		}
		Runnable leaveTransaction = this.request.joinTransaction(this.actual.currentContext(), granted.handle());
		if (isEnded()) {
			leaveTransaction.run();
			giveBackUnseen();
			return;
		}
		this.unused = false;
		Publisher<T> made = LockTemplate.attached(granted, this.work::run);
		made.subscribe(this);
	}

	/**
	 * The wait is over.
	 * @return {@code false} when nobody wants the result any more
	 */
	private synchronized boolean startWorking(@Nullable Hold granted) {
		this.hold = granted;
		this.working = !this.ended;
		return this.working;
	}

	/**
	 * Whether nobody wants the result any more. A transaction that ends with the sequence
	 * is told after this subscription, and knows of all locks that joined before; of one
	 * that joins afterwards it may not know.
	 */
	private synchronized boolean isEnded() {
		return this.ended;
	}

	/**
	 * The work did not come as far as a sequence, or there was no lock for it.
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
	 * There is only one end.
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
		finishLater(this::giveBackUnseen);
	}

	/**
	 * A source that cannot be cancelled does not keep the lock.
	 */
	private void cancelSource() {
		try {
			this.upstream.cancel();
		}
		catch (RuntimeException | Error ex) {
			logger.warn("A sequence under the lock '{}' could not be cancelled, so its work may go on; the lock is"
					+ " given back nevertheless", this.request.name(), ex);
		}
	}

	private void giveBackUnseen() {
		discardResult();
		Hold held = leaving();
		try {
			if (held != null && this.unused) {
				held.giveBack();
			}
			else if (held != null) {
				held.recordFailure(new CancellationException("The sequence was cancelled"));
				held.leave();
			}
		}
		catch (LockLostException ex) {
			logger.debug("The lock of a cancelled sequence had been lost before", ex);
		}
	}

	/**
	 * The hold for whoever is the first to give it back.
	 */
	private synchronized @Nullable Hold leaving() {
		Hold held = this.givenBack ? null : this.hold;
		if (held != null) {
			this.givenBack = true;
			this.reentry.run();
			held.forget(this.news);
		}
		return held;
	}

	/**
	 * The subscriber is told at once, even while the thread that began the work is still
	 * at it.
	 */
	private void lost() {
		LockLostException loss = loss();
		if (loss != null && end()) {
			cancelSource();
			finishLater(this::giveBackUnseen);
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
	 * To give the lock back takes a request, for which a thread that must not block is
	 * not made to wait; and it is not given back while the thread that began the work may
	 * still be at it.
	 */
	private void finishLater(Runnable finish) {
		synchronized (this) {
			if (this.beginner != null) {
				this.afterBeginning = finish;
				return;
			}
		}
		Hold held = this.hold;
		if (held != null) {
			held.aboutToLeave();
		}
		LockThreads.execute(Schedulers.onSchedule(finish));
	}

	private void finish(@Nullable Throwable failure) {
		Hold held = leaving();
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
