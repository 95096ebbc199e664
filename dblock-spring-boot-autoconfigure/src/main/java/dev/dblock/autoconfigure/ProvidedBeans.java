package dev.dblock.autoconfigure;

import java.util.Iterator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

/**
 * Beans of an application in their order, resolved at first use, since they may depend on
 * beans that take locks.
 *
 * @param <T> the type of the beans
 */
final class ProvidedBeans<T> implements Iterable<T> {

	private final ObjectProvider<T> provider;

	// Not computed under a lock: a thread that creates beans may wait for another thread
	// that holds it
	private volatile @Nullable List<T> beans;

	ProvidedBeans(ObjectProvider<T> provider) {
		this.provider = provider;
	}

	@Override
	public Iterator<T> iterator() {
		List<T> known = this.beans;
		if (known == null) {
			known = this.provider.orderedStream().toList();
			this.beans = known;
		}
		return known.iterator();
	}

}
