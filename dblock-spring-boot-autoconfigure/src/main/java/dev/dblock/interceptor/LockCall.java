package dev.dblock.interceptor;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.LockedFallback;
import dev.dblock.WhenUnavailable;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One call of a locked method: the locks that it needs, as if they were one, and what it
 * answers without them.
 */
final class LockCall implements LockedFallback<@Nullable Object, Throwable> {

	private final LockOperation operation;

	private final MethodInvocation invocation;

	private final LockTemplate locks;

	private final String name;

	private final LockOptions options;

	private final @Nullable Several several;

	private volatile boolean begun;

	private LockCall(LockOperation operation, MethodInvocation invocation, LockTemplate locks, String name,
			LockOptions options, @Nullable Several several) {
		this.operation = operation;
		this.invocation = invocation;
		this.locks = locks;
		this.name = name;
		this.options = options;
		this.several = several;
	}

	/**
	 * The locks of a call.
	 * @return {@code null} when it is to be made without a lock
	 * @throws IllegalArgumentException when a name or a condition cannot be told
	 */
	static @Nullable LockCall of(LockOperation operation, Supplier<LockTemplate> template,
			MethodInvocation invocation) {
		if (operation.locks().size() > 1) {
			return ofSeveral(operation, template, invocation);
		}
		MethodLock lock = operation.locks().get(0);
		return lock.isWanted(invocation)
				? new LockCall(operation, invocation, template.get(), lock.nameOf(invocation), lock.options(), null)
				: null;
	}

	private static @Nullable LockCall ofSeveral(LockOperation operation, Supplier<LockTemplate> template,
			MethodInvocation invocation) {
		Map<String, LockOptions> wanted = new LinkedHashMap<>();
		for (MethodLock lock : operation.locks()) {
			if (lock.isWanted(invocation)) {
				wanted.putIfAbsent(lock.nameOf(invocation), lock.options());
			}
		}
		if (wanted.isEmpty()) {
			return null;
		}
		LockTemplate locks = template.get();
		if (wanted.size() == 1) {
			Map.Entry<String, LockOptions> only = wanted.entrySet().iterator().next();
			return new LockCall(operation, invocation, locks, only.getKey(), only.getValue(), null);
		}
		return new LockCall(operation, invocation, locks, String.join(", ", wanted.keySet()), LockOptions.defaults(),
				new Several(locks.forAll(wanted), wanted.keySet()));
	}

	/**
	 * What takes the locks.
	 */
	LockTemplate template() {
		return (this.several != null) ? this.several.template() : this.locks;
	}

	/**
	 * The name to ask the template for.
	 */
	String name() {
		return this.name;
	}

	/**
	 * The options to ask the template with.
	 */
	LockOptions options() {
		return this.options;
	}

	/**
	 * Go on to the method, in the thread that asked for the locks.
	 */
	@Nullable Object proceed() throws Throwable {
		begin();
		return this.invocation.proceed();
	}

	/**
	 * The method is about to be called.
	 */
	void begin() {
		this.begun = true;
	}

	// NullAway takes a type variable for one that is never null
	@Override
	@SuppressWarnings("NullAway")
	public @Nullable Object unavailable(LockRefusal refusal) throws Throwable {
		return this.operation.unavailable(setFor(refusal.name())).answer(refusal, this.invocation);
	}

	/**
	 * The answer to a call that comes while the application closes.
	 * @throws LockShutdownException when the call is not to be skipped, or is one that
	 * had begun
	 */
	@Nullable Object answer(LockShutdownException shutdown) {
		if (this.begun) {
			throw shutdown;
		}
		return this.operation.unavailable(setFor(shutdown.name())).answer(shutdown);
	}

	/**
	 * What is set for the one lock that was not acquired.
	 */
	private Optional<WhenUnavailable> setFor(String fullName) {
		if (this.several == null) {
			return this.locks.engine().whenUnavailable(this.name);
		}
		return this.several.names()
			.stream()
			.filter((each) -> this.locks.engine().fullName(each).equals(fullName))
			.findFirst()
			.flatMap(this.locks.engine()::whenUnavailable);
	}

	/**
	 * More than one lock.
	 *
	 * @param template what takes them together
	 * @param names the name of each
	 */
	private record Several(LockTemplate template, Set<String> names) {
	}

}
