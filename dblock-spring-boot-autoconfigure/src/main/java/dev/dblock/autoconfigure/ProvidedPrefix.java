package dev.dblock.autoconfigure;

import dev.dblock.LockNamePrefix;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Concatenated prefixes of an application.
 */
final class ProvidedPrefix implements LockNamePrefix {

	private final Iterable<LockNamePrefix> prefixes;

	private final ListableBeanFactory beans;

	ProvidedPrefix(ObjectProvider<LockNamePrefix> provider, ListableBeanFactory beans) {
		this.prefixes = new ProvidedBeans<>(provider);
		this.beans = beans;
	}

	@Override
	public String prefixOf(String name) {
		StringBuilder joined = new StringBuilder();
		this.prefixes.forEach((prefix) -> joined.append(text(prefix, name)));
		return joined.toString();
	}

	// NullAway assumes that a prefix is not null
	@SuppressWarnings({ "ConstantValue", "NullAway" })
	private String text(LockNamePrefix prefix, String name) {
		String text = prefix.prefixOf(name);
		if (text == null) {
			throw new IllegalArgumentException(
					("%s returned null as the prefix of the lock '%s', so the lock was not requested: unrelated calls"
							+ " would share it. Return a prefix, or an empty text for none")
						.formatted(BeanNames.describe(LockNamePrefix.class, prefix, this.beans), name));
		}
		return text;
	}

}
