package dev.dblock.reactive;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
import kotlinx.coroutines.channels.BufferOverflow;
import kotlinx.coroutines.flow.Flow;
import kotlinx.coroutines.flow.FlowKt;
import kotlinx.coroutines.reactor.ReactorFlowKt;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
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

	/** The coroutine that called the function, and waits for its end as well. */
	private volatile @Nullable LockedCoroutine caller;

	/**
	 * The whole coroutine. It consists of several if advice inside of the lock subscribes
	 * again, or if the function calls another through a proxy.
	 */
	private final Set<Job> jobs = new HashSet<>(2);

	private boolean released;

	public LockedCoroutine() {
		super(KEY);
	}

	/**
	 * Create an element for a coroutine whose end another job shows.
	 * @param job the job
	 */
	public LockedCoroutine(Job job) {
		this();
		this.jobs.add(job);
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
		this.caller = continuation.getContext().get(KEY);
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
	 * Return a flow that requests each element from its sequence after the previous one
	 * has been collected. With a buffer, the sequence would end, and the lock be
	 * released, before the collection.
	 * @param flow the flow of a sequence
	 * @return the flow without a buffer
	 */
	@SuppressWarnings("unchecked")
	public static Object unbuffered(Object flow) {
		return FlowKt.buffer((Flow<Object>) flow, 0, BufferOverflow.SUSPEND);
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
		Job job = context.get(Job.Key);
		// Only the coroutines of publishers are not waited for by others
		if (job instanceof Disposable || job instanceof Subscription) {
			if (!this.released) {
				await(job);
			}
			else if (!job.isActive() && checksCancellationFirst(context)) {
				throw new CancellationException("The coroutine was cancelled, and its lock released, before it began");
			}
		}
		return running() != null;
	}

	private synchronized void await(Job job) {
		if (!this.released) {
			this.jobs.add(job);
		}
		LockedCoroutine caller = this.caller;
		if (caller != null) {
			caller.await(job);
		}
	}

	/**
	 * Return whether a coroutine looks for a cancellation before
	 * {@link #updateThreadContext}. One that is dispatched looks for it afterwards.
	 */
	private static boolean checksCancellationFirst(CoroutineContext context) {
		return context.get(ContinuationInterceptor.Key) instanceof CoroutineDispatcher dispatcher
				&& !dispatcher.isDispatchNeeded(context);
	}

	private synchronized @Nullable Job running() {
		this.jobs.removeIf(Job::isCompleted);
		return this.jobs.isEmpty() ? null : this.jobs.iterator().next();
	}

	/**
	 * Return what the release has to wait for, or {@code null} if the coroutine has
	 * ended. It does not begin after that.
	 */
	private synchronized @Nullable Job awaited() {
		Job awaited = running();
		this.released = awaited == null;
		return awaited;
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

	private record Sequence<T>(LockedCoroutine coroutine, Publisher<T> publisher) implements Publisher<T>, PendingWork {

		@Override
		public void subscribe(Subscriber<? super T> subscriber) {
			CoreSubscriber<? super T> actual = Operators.toCoreSubscriber(subscriber);
			this.coroutine.scope = ReactiveScope.of(actual.currentContext());
			this.publisher.subscribe(actual);
		}

		@Override
		public void whenEnded(Runnable action) {
			Job job = this.coroutine.awaited();
			if (job == null) {
				action.run();
				return;
			}
			job.invokeOnCompletion((failure) -> {
				CallThreads.execute(() -> whenEnded(action));
				return Unit.INSTANCE;
			});
		}

	}

}
