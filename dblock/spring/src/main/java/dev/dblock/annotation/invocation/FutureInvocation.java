package dev.dblock.annotation.invocation;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.DefaultLockTemplate;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Holds the lock until the future that the method returns has completed.
 */
final class FutureInvocation implements InvocationStrategy {

	private final Supplier<DefaultLockTemplate> template;

	private final PendingResults results;

	private final @Nullable Object skipped;

	FutureInvocation(Supplier<DefaultLockTemplate> template, PendingResults results, Class<?> result) {
		this.template = template;
		this.results = results;
		this.skipped = BlockingInvocation.empty(result);
	}

	// NullAway treats a type variable as non-null
	@Override
	@SuppressWarnings("NullAway")
	public @Nullable Object invoke(LockedOperation operation, MethodInvocation invocation) throws Throwable {
		LockCall call = LockCall.of(operation, this.template, invocation, CallObserver.of(invocation));
		if (call == null) {
			return invocation.proceed();
		}
		CompletionStage<@Nullable Object> result = call.template()
			.<@Nullable Object>executeAsync(call.name(), call.options(), () -> begin(operation.method(), call),
					(refusal) -> stage(operation.method(), () -> call.unavailable(refusal)), (delivered) -> {
						call.ended();
						this.results.delivered(operation.method(), delivered);
					});
		return answer(call, result);
	}

	/**
	 * Return the result for the caller. The method may be skipped because of the shutdown
	 * of the application, or because the observer of the call repeats an acquisition that
	 * failed in the store.
	 */
	private static @Nullable Object answer(LockCall call, @Nullable CompletionStage<?> result) {
		Throwable failure = failure(result);
		try {
			if (failure instanceof LockShutdownException shutdown) {
				return call.answer(shutdown);
			}
			return (failure instanceof DataAccessException unanswered) ? call.answer(unanswered) : result;
		}
		catch (LockShutdownException | DataAccessException ex) {
			return result;
		}
	}

	private static @Nullable Throwable failure(@Nullable CompletionStage<?> result) {
		return (result instanceof CompletableFuture<?> future && future.isCompletedExceptionally())
				? future.handle((none, failure) -> failure).join() : null;
	}

	private @Nullable CompletionStage<@Nullable Object> begin(LockedMethod method, LockCall call) throws Throwable {
		CompletionStage<@Nullable Object> stage = stage(method, call.proceed());
		if (stage == null) {
			call.ended();
		}
		return stage;
	}

	private @Nullable CompletionStage<@Nullable Object> stage(LockedMethod method, Answer answer) throws Throwable {
		try {
			return stage(method, answer.get());
		}
		catch (LockUnavailableException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Convert a result to a stage. A future without completion callbacks is awaited here.
	 */
	@SuppressWarnings("unchecked")
	private @Nullable CompletionStage<@Nullable Object> stage(LockedMethod method, @Nullable Object result) {
		if (result instanceof CompletionStage<?> stage) {
			return (CompletionStage<@Nullable Object>) stage;
		}
		if (result == null) {
			return null;
		}
		this.results.ended(method, result);
		return outcome((Future<?>) result);
	}

	private static CompletionStage<@Nullable Object> outcome(Future<?> done) {
		CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
		try {
			outcome.complete(done.get());
		}
		catch (CancellationException ex) {
			outcome.cancel(true);
		}
		catch (ExecutionException ex) {
			Throwable cause = ex.getCause();
			outcome.completeExceptionally((cause != null) ? cause : ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			outcome.completeExceptionally(ex);
		}
		return outcome;
	}

	@Override
	@SuppressWarnings("FutureReturnValueIgnored")
	public @Nullable Object skipped() {
		return CompletableFuture.completedFuture(this.skipped);
	}

	private interface Answer {

		@Nullable Object get() throws Throwable;

	}

}
