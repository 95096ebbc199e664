package dev.dblock.event;

/**
 * Something has happened to a lock of this application context. Published as an
 * application event: a listener's parameter says which of them it wants to hear of. What
 * a listener throws is logged and changes nothing.
 */
public sealed interface LockEvent permits LockAcquiredEvent, LockUnavailableEvent, LockRenewedLateEvent, LockLostEvent,
		LockReleasedEvent, JobStartedEvent, JobEndedEvent, JobMissedEvent {

	/**
	 * The full name of the lock, prefix included.
	 * @return the name
	 */
	String name();

}
