package dev.dblock.autoconfigure;

import java.util.Iterator;
import java.util.List;

import dev.dblock.event.LockListener;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

/**
 * The listeners of an application, asked for when there is something to tell, since they
 * may need what takes the locks.
 */
final class ProvidedListeners implements Iterable<LockListener> {

	private final ObjectProvider<LockListener> provider;

	// Not computed under a lock: a thread that creates beans may wait for another one
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
