package dev.dblock.annotation.invocation;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.PendingTypes;
import reactor.core.publisher.Mono;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;

/**
 * Selects the invocation strategy for each return type, or the reason why it cannot be
 * locked. If the end of the work cannot be observed, a lock would be released too early
 * or never.
 */
final class InvocationStrategies {

	/**
	 * The declared types for which a future can be returned. Of any other future type,
	 * only the method's own instance could be returned to the caller.
	 */
	private static final Set<Class<?>> FUTURES = Set.of(Future.class, CompletionStage.class, CompletableFuture.class);

	private final PendingTypes types;

	private final PendingResults results;

	InvocationStrategies(PendingTypes types) {
		this.types = types;
		this.results = new PendingResults(types);
	}

	/**
	 * Select the strategy for a method.
	 * @param template acquires its locks
	 * @throws IllegalArgumentException if the end of its work could not be observed, with
	 * the reason
	 */
	InvocationStrategy of(LockedMethod method, Supplier<DefaultLockTemplate> template) {
		if (KotlinDetector.isSuspendingFunction(method.method())) {
			return suspending(method, template);
		}
		ResolvableType type = ResolvableType.forMethodReturnType(method.method(), method.userClass());
		Class<?> returned = type.resolve(Object.class);
		if (FUTURES.contains(returned)) {
			ResolvableType result = type.as(returned).getGeneric();
			refuse(result);
			return new FutureInvocation(template, this.results, result.resolve(Object.class));
		}
		ReactiveAdapter adapter = this.types.sequenceAdapter(returned);
		if (adapter != null) {
			refuse(type.as(returned).getGeneric());
			return new ReactiveInvocation(template, this.results, adapter, null);
		}
		refuse(type);
		return new BlockingInvocation(template, this.results, method.method().getReturnType());
	}

	private InvocationStrategy suspending(LockedMethod method, Supplier<DefaultLockTemplate> template) {
		SuspendedResult result = SuspendedResult.of(method, this.types);
		Class<?> returned = result.type().resolve(Object.class);
		boolean lockable = FUTURES.contains(returned) || this.types.sequenceAdapter(returned) != null;
		refuse(result.type(), lockable ? "remove 'suspend', and the lock is held until the result has ended"
				: "finish the work in the function, or acquire the lock where the work is done");
		ReactiveAdapter adapter = this.types.sequenceAdapter(Mono.class);
		return new ReactiveInvocation(template, this.results, Objects.requireNonNull(adapter), result);
	}

	private void refuse(ResolvableType type) {
		refuse(type, "finish the work in the method, return a CompletableFuture or a Mono, or acquire the lock where"
				+ " the work is done");
	}

	private void refuse(ResolvableType type, String advice) {
		this.types.find(type).ifPresent((found) -> {
			throw new IllegalArgumentException(
					("with the return type %s its work continues after the method returns, when the lock is already"
							+ " released; %s")
						.formatted(found.getName(), advice));
		});
	}

}
