package dev.dblock.testing;

import java.util.function.Consumer;

import reactor.core.publisher.Mono;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Reactive transactions of no store, whose beginning and end are reported.
 */
public class RecordingReactiveManager extends AbstractReactiveTransactionManager {

	private static final long serialVersionUID = 1L;

	private final transient Consumer<String> events;

	/**
	 * A manager.
	 * @param events receives each {@code begin}, {@code commit} and {@code rollback}
	 */
	public RecordingReactiveManager(Consumer<String> events) {
		this.events = events;
	}

	/**
	 * Something that happens when it is subscribed to.
	 * @param event the event to report
	 * @return completes when it was reported
	 */
	protected final Mono<Void> event(String event) {
		return Mono.fromRunnable(() -> this.events.accept(event));
	}

	@Override
	protected Object doGetTransaction(TransactionSynchronizationManager manager) {
		return new Object();
	}

	@Override
	protected Mono<Void> doBegin(TransactionSynchronizationManager manager, Object transaction,
			TransactionDefinition definition) {
		return event("begin");
	}

	@Override
	protected Mono<Void> doCommit(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
		return event("commit");
	}

	@Override
	protected Mono<Void> doRollback(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
		return event("rollback");
	}

}
