package dev.dblock;

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Determines when the work that a stage represents has ended. Internal: not intended for
 * applications.
 */
public final class EndOfWork {

	private EndOfWork() {
	}

	/**
	 * Follow work to its end. The stage of work under a lock of its own already completes
	 * when that lock is lost, while the work may still continue.
	 * @param work the stage
	 * @return a stage that completes when both the work has ended and the given stage has
	 * completed, never with an exception
	 */
	public static CompletionStage<Boolean> of(CompletionStage<? extends @Nullable Object> work) {
		return (work instanceof LastingWork<?> lasting) ? lasting.endOfWork() : completed(work);
	}

	static CompletionStage<Boolean> completed(CompletionStage<? extends @Nullable Object> stage) {
		return stage.handle((result, failure) -> true);
	}

}
