package dev.dblock.integration;

import java.time.Duration;
import java.util.UUID;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.settings.LockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.TaskScheduler;

/**
 * Base class of the registries for all versions of Spring Integration. They differ in the
 * types that they declare.
 */
abstract class IntegrationRegistry {

	private final DefaultLockTemplate template;

	private final LockOptions options;

	private final String prefix;

	IntegrationRegistry(LockTemplate template, LockOptions options, String prefix) {
		this.template = DefaultLockTemplate.of(template);
		this.options = (options.label() != null) ? options : options.label(prefix + "*");
		this.prefix = prefix;
		this.template.engine().check(prefix + LockSettings.ANYTHING, options);
	}

	final LockTemplate template() {
		return this.template;
	}

	final LockOptions options() {
		return this.options;
	}

	/**
	 * Return the name of the lock for a key.
	 * @throws IllegalArgumentException if the text form of the key can differ in another
	 * process, or is not a valid lock name
	 */
	final String name(@Nullable Object key) {
		boolean text = key instanceof CharSequence || key instanceof Number || key instanceof UUID
				|| key instanceof Enum<?>;
		if (!text) {
			throw new IllegalArgumentException(
					("A lock key must be a string, a number, a UUID or an enum constant, whose text is the same in"
							+ " every process, but is %s. Pass a string that identifies the resource")
						.formatted((key != null) ? "of " + key.getClass() : "null"));
		}
		String name = this.prefix + ((key instanceof Enum<?> constant) ? constant.name() : key);
		this.template.engine().fullName(name);
		return name;
	}

	/**
	 * Renew a lock for one lease. Not needed to keep the lock, since it is renewed in the
	 * background.
	 * @param lockKey the key of the lock
	 * @throws IllegalStateException if the current thread does not hold the lock, or has
	 * lost it
	 */
	public void renewLock(Object lockKey) {
		renew(lockKey, null);
	}

	/**
	 * Renew a lock for the given time. This never shortens the lease.
	 * @param lockKey the key of the lock
	 * @param ttl how long it must be held from now on
	 * @throws IllegalStateException if the current thread does not hold the lock, or has
	 * lost it
	 */
	public void renewLock(Object lockKey, Duration ttl) {
		renew(lockKey, ttl);
	}

	private void renew(Object key, @Nullable Duration atLeast) {
		String name = name(key);
		LockHandle handle = LockContext.current(this.template.engine().fullName(name))
			.orElseThrow(() -> new IllegalStateException(
					"The lock '%s' cannot be renewed by the thread '%s', which does not own it".formatted(name,
							Thread.currentThread().getName())));
		try {
			if (atLeast != null) {
				handle.extend(atLeast);
			}
			else {
				handle.renew();
			}
		}
		catch (LockLostException ex) {
			throw new IllegalStateException(ex.getMessage(), ex);
		}
	}

	/**
	 * Does nothing, since leases are renewed in the background without a scheduler.
	 * @param renewalTaskScheduler not used
	 */
	public void setRenewalTaskScheduler(TaskScheduler renewalTaskScheduler) {
	}

	/**
	 * Does nothing, since the registry keeps no state of locks that are not held.
	 * @param age not used
	 */
	public void expireUnusedOlderThan(long age) {
	}

	@Override
	public String toString() {
		return "locks of dblock named '%s*'".formatted(this.prefix);
	}

}
