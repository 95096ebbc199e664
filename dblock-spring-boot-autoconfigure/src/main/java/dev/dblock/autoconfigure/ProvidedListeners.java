package dev.dblock.autoconfigure;

import java.util.Iterator;
import java.util.List;

import dev.dblock.event.LockListener;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

/**
 * Listeners of an application, resolved at the first event, since they may depend on
 * beans that take locks.
 */
final class ProvidedListeners implements Iterable<LockListener> {

	private final ObjectProvider<LockListener> provider;

	// Not computed under a lock: a thread that creates beans may wait for another thread
	// that holds it
	private volatile @Nullable List<LockListener> listeners;

	ProvidedListeners(ObjectProvider<LockListener> provider) {
		this.provider = provider;
	}

	@Override
	public Iterator<LockListener> iterator() {
		List<LockListener> known = this.listeners;
		if (known == null) {
			known = this.provider.orderedStream().toList();
			this.listeners = known;
		}
		return known.iterator();
	}

}
