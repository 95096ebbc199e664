package dev.dblock.event;

/**
 * Event for a lock of this application context. Published as an application event: the
 * parameter type of a listener selects the events that it receives. An exception of a
 * listener is logged and has no other effect. Later versions may add types of events.
 */
public interface LockEvent {

	/**
	 * Return the full name of the lock, including the prefix.
	 * @return the name
	 */
	String name();

}
