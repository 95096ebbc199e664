package dev.dblock.annotation.invocation;

import java.lang.reflect.Array;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Supplier;

import dev.dblock.LockShutdownException;
import dev.dblock.LockedAction;
import dev.dblock.execution.DefaultLockTemplate;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Holds the lock until the method returns.
 */
final class BlockingInvocation implements InvocationStrategy {

	private static final Map<Class<?>, Object> EMPTY = Map.of(Optional.class, Optional.empty(), OptionalInt.class,
			OptionalInt.empty(), OptionalLong.class, OptionalLong.empty(), OptionalDouble.class,
			OptionalDouble.empty());

	private final Supplier<DefaultLockTemplate> template;

	private final PendingResults results;

	private final Class<?> returned;

	BlockingInvocation(Supplier<DefaultLockTemplate> template, PendingResults results, Class<?> returned) {
		this.template = template;
		this.results = results;
		this.returned = returned;
	}

	/**
	 * Return the value of a type that represents the absence of a result. For most types,
	 * it is {@code null}.
	 */
	static @Nullable Object empty(Class<?> type) {
		return EMPTY.get(type);
	}

	// NullAway treats a type variable as non-null
	@Override
	@SuppressWarnings("NullAway")
	public @Nullable Object invoke(LockedOperation operation, MethodInvocation invocation) throws Throwable {
		LockCall call = LockCall.of(operation, this.template, invocation, CallObserver.of(invocation));
		if (call == null) {
			return invocation.proceed();
		}
		try {
			LockedAction<@Nullable Object> action = () -> run(operation, call);
			return call.runsAgain()
					? call.template().<@Nullable Object>executeOrRunAgain(call.name(), call.options(), action, call)
					: call.template().<@Nullable Object>execute(call.name(), call.options(), action, call);
		}
		catch (LockShutdownException ex) {
			return call.answer(ex);
		}
		catch (DataAccessException ex) {
			return call.answer(ex);
		}
	}

	private @Nullable Object run(LockedOperation operation, LockCall call) throws Throwable {
		Object result = this.results.ended(operation.method(), call.proceed());
		call.ended();
		return result;
	}

	// A scheduler ignores the result of a skipped job, so a primitive default will do
	@Override
	public @Nullable Object skipped() {
		return (this.returned.isPrimitive() && this.returned != void.class)
				? Array.get(Array.newInstance(this.returned, 1), 0) : empty(this.returned);
	}

	@Override
	public @Nullable String skipUnsupportedReason() {
		return (this.returned.isPrimitive() && this.returned != void.class)
				? ("a skipped call could not be distinguished from one that returned a result, because the method"
						+ " returns the primitive %s; return an object")
					.formatted(this.returned.getName())
				: null;
	}

}
