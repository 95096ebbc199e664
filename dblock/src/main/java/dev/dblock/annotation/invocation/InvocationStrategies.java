package dev.dblock.annotation.invocation;

import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.PendingTypes;
import reactor.core.publisher.Flux;
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

	private final PendingTypes lasting;

	private final PendingResults results;

	InvocationStrategies(PendingTypes lasting) {
		this.lasting = lasting;
		this.results = new PendingResults(lasting);
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
			refuse(find(result));
			return new FutureInvocation(template, this.results, result.resolve(Object.class));
		}
		ReactiveAdapter adapter = this.lasting.spannable(returned);
		if (adapter != null) {
			refuse(find(type.as(returned).getGeneric()));
			return new ReactiveInvocation(template, this.results, adapter, null);
		}
		refuse(find(type));
		return new BlockingInvocation(template, this.results, method.method().getReturnType());
	}

	private InvocationStrategy suspending(LockedMethod method, Supplier<DefaultLockTemplate> template) {
		SuspendedResult result = SuspendedResult.of(method, this.lasting);
		refuse(find(result.isFlow() ? result.type().getGeneric() : result.type()));
		ReactiveAdapter adapter = this.lasting.spannable(result.isFlow() ? Flux.class : Mono.class);
		return new ReactiveInvocation(template, this.results, Objects.requireNonNull(adapter), result);
	}

	private Optional<String> find(ResolvableType type) {
		return this.lasting.find(type).map((found) -> "the return type " + found.getName());
	}

	private static void refuse(Optional<String> what) {
		what.ifPresent((kind) -> {
			throw new IllegalArgumentException(
					("with %s its work continues after the method returns, when the lock is already released; finish"
							+ " the work in the method, return a CompletableFuture or a Mono, or acquire the lock"
							+ " where the work is done")
						.formatted(kind));
		});
	}

}
