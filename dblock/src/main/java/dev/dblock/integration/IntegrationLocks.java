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

/**
 * Common parts of the registries for all versions of Spring Integration.
 */
final class IntegrationLocks {

	private final DefaultLockTemplate template;

	private final LockOptions options;

	private final String prefix;

	IntegrationLocks(LockTemplate template, LockOptions options, String prefix) {
		this.template = DefaultLockTemplate.of(template);
		this.options = (options.label() != null) ? options : options.label(prefix + "*");
		this.prefix = prefix;
		this.template.engine().check(prefix + LockSettings.ANYTHING, options);
	}

	LockTemplate template() {
		return this.template;
	}

	LockOptions options() {
		return this.options;
	}

	/**
	 * Return the name of the lock for a key.
	 * @throws IllegalArgumentException if the text form of the key can differ in another
	 * process, or is not a valid lock name
	 */
	String name(@Nullable Object key) {
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
	 * Renew a lock of this thread.
	 * @param atLeast how long it must be held from now on, or {@code null} for one lease
	 * @throws IllegalStateException if this thread does not hold the lock, or has lost it
	 */
	void renew(Object key, @Nullable Duration atLeast) {
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

	@Override
	public String toString() {
		return "locks of dblock named '%s*'".formatted(this.prefix);
	}

}
