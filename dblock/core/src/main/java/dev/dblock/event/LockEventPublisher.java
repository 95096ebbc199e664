package dev.dblock.event;

import java.time.Duration;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.support.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanCreationNotAllowedException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.core.ResolvableType;

/**
 * Publishes lock events as application events. During shutdown, they reach the listeners
 * that still exist. Internal: can change in any release.
 */
public class LockEventPublisher implements LockListener {

	private static final Logger logger = LoggerFactory.getLogger(LockEventPublisher.class);

	private static final ClassValue<EventType> TYPES = new ClassValue<>() {

		@Override
		protected EventType computeValue(Class<?> payload) {
			return EventType.of(payload);
		}

	};

	private final ConfigurableApplicationContext context;

	/**
	 * Create a publisher.
	 * @param context the context that publishes the events
	 */
	protected LockEventPublisher(ConfigurableApplicationContext context) {
		this.context = context;
	}

	@Override
	public void onAcquired(LockHandle handle) {
		publish(new LockAcquiredEvent(handle.name(), handle.token()));
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		publish(new LockUnavailableEvent(refusal));
	}

	@Override
	public void onRenewedLate(LockHandle handle, Duration left) {
		publish(new LockRenewedLateEvent(handle.name(), handle.token(), left));
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		publish(new LockLostEvent(handle.name(), handle.token(), reason));
	}

	@Override
	public void onReleased(LockHandle handle) {
		publish(new LockReleasedEvent(handle.name(), handle.token()));
	}

	/**
	 * Publish an event. An exception of a listener is logged.
	 * @param event the event
	 */
	protected final void publish(LockEvent event) {
		try {
			this.context.publishEvent(new News(this.context, event, TYPES.get(event.getClass())));
		}
		catch (Throwable ex) {
			logFailure(event, ex);
		}
	}

	private void logFailure(LockEvent event, Throwable ex) {
		if (isClosing(ex)) {
			logger.debug("The {} for the lock '{}' did not reach every listener, because the application is closing",
					event.getClass().getSimpleName(), event.name(), ex);
		}
		else {
			FailureLog.warn(logger, ex, "A listener of the {} for the lock '{}' failed: an @EventListener method or an"
					+ " ApplicationListener, which the stack trace at DEBUG shows. The lock is not affected; other"
					+ " listeners of this event may not have received it. Fix that listener",
					event.getClass().getSimpleName(), event.name());
		}
	}

	// A context that fails to start is destroyed without ever being closed
	private boolean isClosing(Throwable ex) {
		return this.context.isClosed() || ex instanceof BeanCreationNotAllowedException;
	}

	/**
	 * The resolved types of an event. Spring would resolve them for each event, which
	 * takes a third of the allocations of a lock that is handed over between threads.
	 */
	private record EventType(ResolvableType payload, ResolvableType event) {

		static EventType of(Class<?> payload) {
			return new EventType(ResolvableType.forClass(payload),
					ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, payload));
		}

	}

	/**
	 * The wrapper that Spring creates for an event that is not an
	 * {@code ApplicationEvent}.
	 */
	private static final class News extends PayloadApplicationEvent<LockEvent> {

		private static final long serialVersionUID = 1;

		private final ResolvableType type;

		News(Object source, LockEvent event, EventType type) {
			super(source, event, type.payload());
			this.type = type.event();
		}

		@Override
		public ResolvableType getResolvableType() {
			return this.type;
		}

	}

}
