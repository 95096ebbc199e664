package dev.dblock.reactive;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;

import dev.dblock.execution.WorkScope;
import dev.dblock.support.CallThreads;
import kotlin.Unit;
import kotlin.coroutines.AbstractCoroutineContextElement;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.ContinuationInterceptor;
import kotlin.coroutines.CoroutineContext;
import kotlinx.coroutines.CoroutineDispatcher;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.ThreadContextElement;
import kotlinx.coroutines.flow.Flow;
import kotlinx.coroutines.reactor.ReactorFlowKt;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * A coroutine under a lock. As an element of the coroutine's context, it makes each
 * thread that runs a part of the coroutine, or of a child, work under the locks of the
 * coroutine for as long as it does so. A suspended coroutine occupies no thread, and its
 * locks are not those of any thread.
 */
public final class LockedCoroutine extends AbstractCoroutineContextElement
		implements ThreadContextElement<List<WorkScope>> {

	private static final CoroutineContext.Key<LockedCoroutine> KEY = new CoroutineContext.Key<>() {
	};

	private volatile @Nullable ReactiveScope scope;

	/** The whole coroutine, as seen by the first of its parts. */
	private @Nullable Job job;

	private final boolean external;

	private boolean released;

	public LockedCoroutine() {
		this(null, false);
	}

	/**
	 * Create an element for a coroutine whose end another job shows.
	 * @param job the job
	 */
	public LockedCoroutine(Job job) {
		this(job, true);
	}

	private LockedCoroutine(@Nullable Job job, boolean external) {
		super(KEY);
		this.job = job;
		this.external = external;
	}

	/**
	 * Return the argument for a suspending function that Spring converts to a publisher.
	 * It only reads the context.
	 * @param caller the argument that the caller of the function passed
	 * @return the argument in place of it
	 */
	@SuppressWarnings("unchecked")
	public Object continuation(Object caller) {
		Continuation<Object> continuation = (Continuation<Object>) caller;
		CoroutineContext context = continuation.getContext().plus(this);
		return new Continuation<Object>() {

			@Override
			public CoroutineContext getContext() {
				return context;
			}

			@Override
			public void resumeWith(Object result) {
				continuation.resumeWith(result);
			}

		};
	}

	/**
	 * Return the sequence of a flow that is collected by this coroutine.
	 * @param flow the flow
	 * @return the sequence
	 */
	@SuppressWarnings("unchecked")
	public Publisher<Object> publisher(Object flow) {
		return ReactorFlowKt.asFlux((Flow<Object>) flow, this);
	}

	/**
	 * Return a sequence whose locks are those of this coroutine. However the sequence
	 * ends, the locks are released when the coroutine has ended.
	 * @param publisher runs the coroutine, once
	 * @param <T> the type of the elements
	 * @return the sequence
	 */
	public <T> Publisher<T> sequence(Publisher<T> publisher) {
		return new Sequence<>(this, publisher);
	}

	@Override
	public List<WorkScope> updateThreadContext(CoroutineContext context) {
		List<WorkScope> entered = new ArrayList<>(2);
		if (isUnderLock(context)) {
			enter(this.scope, entered);
		}
		return entered;
	}

	/**
	 * Return whether a part of the coroutine is about to run, and not one of a coroutine
	 * that has inherited its context and outlives it.
	 * @throws CancellationException if the coroutine was cancelled, and its lock
	 * released, as it was about to begin
	 */
	private synchronized boolean isUnderLock(CoroutineContext context) {
		Job running = context.get(Job.Key);
		if (this.released) {
			if (this.job == null && isCancelledUnnoticed(running, context)) {
				throw new CancellationException("The coroutine was cancelled, and its lock released, before it began");
			}
			return false;
		}
		if (this.job == null || isAnotherAttempt(running)) {
			this.job = running;
		}
		return isRunning();
	}

	/**
	 * Return whether a coroutine would not notice a cancellation at its beginning. One
	 * that is dispatched looks for it after {@link #updateThreadContext}, others before.
	 */
	private static boolean isCancelledUnnoticed(@Nullable Job running, CoroutineContext context) {
		return running != null && !running.isActive()
				&& context.get(ContinuationInterceptor.Key) instanceof CoroutineDispatcher dispatcher
				&& !dispatcher.isDispatchNeeded(context);
	}

	/**
	 * Return whether advice inside of the lock has subscribed again.
	 */
	private boolean isAnotherAttempt(@Nullable Job running) {
		return !this.external && !isRunning() && running != null && running.isActive() && running.getParent() == null;
	}

	private boolean isRunning() {
		return this.job != null && !this.job.isCompleted();
	}

	/**
	 * Return the coroutine, or {@code null} if it has ended or never begins.
	 */
	private synchronized @Nullable Job running() {
		this.released = !isRunning();
		return this.released ? null : this.job;
	}

	private static void enter(@Nullable ReactiveScope scope, List<WorkScope> entered) {
		if (scope != null) {
			enter(scope.outer(), entered);
			entered.add(WorkScope.attach(scope.hold()));
		}
	}

	@Override
	public void restoreThreadContext(CoroutineContext context, List<WorkScope> entered) {
		for (int i = entered.size() - 1; i >= 0; i--) {
			entered.get(i).close();
		}
	}

	private record Sequence<T>(LockedCoroutine coroutine,
			Publisher<T> publisher) implements Publisher<T>, LingeringWork {

		@Override
		public void subscribe(Subscriber<? super T> subscriber) {
			CoreSubscriber<? super T> actual = Operators.toCoreSubscriber(subscriber);
			this.coroutine.scope = ReactiveScope.of(actual.currentContext());
			this.publisher.subscribe(actual);
		}

		@Override
		public void whenEnded(Runnable action) {
			Job job = this.coroutine.running();
			if (job == null) {
				action.run();
				return;
			}
			job.invokeOnCompletion((failure) -> {
				CallThreads.execute(action);
				return Unit.INSTANCE;
			});
		}

	}

}
