package dev.dblock.autoconfigure;

import java.util.List;

import dev.dblock.LockNamePrefix;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Concatenated prefixes of an application, resolved at the first lock request, since they
 * may depend on beans that take locks.
 */
final class ProvidedPrefix implements LockNamePrefix {

	private final ObjectProvider<LockNamePrefix> provider;

	private final ListableBeanFactory beans;

	// Not computed under a lock, as with the listeners
	private volatile @Nullable List<LockNamePrefix> prefixes;

	ProvidedPrefix(ObjectProvider<LockNamePrefix> provider, ListableBeanFactory beans) {
		this.provider = provider;
		this.beans = beans;
	}

	@Override
	public String prefixOf(String name) {
		List<LockNamePrefix> known = this.prefixes;
		if (known == null) {
			known = this.provider.orderedStream().toList();
			this.prefixes = known;
		}
		return known.isEmpty() ? "" : joined(known, name);
	}

	private String joined(List<LockNamePrefix> prefixes, String name) {
		StringBuilder joined = new StringBuilder();
		for (LockNamePrefix prefix : prefixes) {
			joined.append(text(prefix, name));
		}
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
