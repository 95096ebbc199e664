package dev.dblock.shedlock;

import java.time.Duration;
import java.util.Optional;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.engine.HeldLock;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One acquisition, from its grant or its last extension to the next. If the application
 * drops it, the lock ends with its lease.
 */
final class DblockSimpleLock extends AbstractSimpleLock {

	private static final Logger logger = LoggerFactory.getLogger(DblockSimpleLock.class);

	private final LockHandle handle;

	private final ProvidedLock provided;

	private final boolean keepAlive;

	/** The same lock of another provider. */
	private volatile @Nullable SimpleLock other;

	DblockSimpleLock(LockConfiguration configuration, LockHandle handle, ProvidedLock provided, boolean keepAlive,
			@Nullable SimpleLock other) {
		super(configuration);
		this.handle = handle;
		this.provided = provided;
		this.keepAlive = keepAlive;
		this.other = other;
	}

	/**
	 * Release the lock. The work has ended, so a loss and a failed request are only
	 * logged. The lock of the other provider is released only as long as this lock shows
	 * that it is not the lock of a successor, or if it would be extended forever.
	 */
	@Override
	protected void doUnlock() {
		this.provided.end();
		SimpleLock other = this.other;
		try {
			if (other != null && (this.keepAlive || this.handle.isHeld())) {
				other.unlock();
			}
		}
		finally {
			try {
				this.handle.close();
			}
			catch (LockLostException ex) {
				logger.debug("The lock '{}' was lost before it was released", this.handle.name(), ex);
			}
		}
	}

	/**
	 * Let the lock end exactly when ShedLock would end it. A lock that is kept alive has
	 * no such end, so an extension is a minimum.
	 */
	@Override
	protected Optional<SimpleLock> doExtend(LockConfiguration configuration) {
		try {
			this.handle.ensureHeld();
			SimpleLock other = this.other;
			if (other != null) {
				Optional<SimpleLock> extended = other.extend(configuration.getLockAtMostFor(),
						configuration.getLockAtLeastFor());
				if (extended.isEmpty()) {
					this.provided.end();
					return extended;
				}
				// The one before is spent, even if the next request fails
				other = extended.get();
				this.other = other;
			}
			Duration atMost = DblockLockProvider.lease(configuration);
			Duration atLeast = DblockLockProvider.minHold(configuration);
			if (this.keepAlive) {
				this.handle.extend(atMost, atLeast);
			}
			else {
				// There is none while locking is disabled
				HeldLock held = HeldLock.of(this.handle);
				if (held != null) {
					held.extendExactly(atMost, atLeast);
				}
			}
			return Optional.of(new DblockSimpleLock(configuration, this.handle, this.provided, this.keepAlive, other));
		}
		catch (LockLostException ex) {
			logger.debug("The lock '{}' was lost before it was extended", this.handle.name(), ex);
			this.provided.end();
			SimpleLock other = this.other;
			if (other != null && this.keepAlive) {
				other.unlock();
			}
			return Optional.empty();
		}
	}

}
