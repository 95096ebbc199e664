package dev.dblock;

import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * When the work has ended that a stage stands for. Not for applications.
 */
public final class EndOfWork {

	private EndOfWork() {
	}

	/**
	 * Follow work to its end. A stage of work under a lock of its own completes at the
	 * loss of that lock already, while the work may go on.
	 * @param work the stage
	 * @return completes when both the work has ended and the stage has completed, never
	 * with an exception
	 */
	public static CompletionStage<Boolean> of(CompletionStage<? extends @Nullable Object> work) {
		return (work instanceof LastingWork<?> lasting) ? lasting.endOfWork() : completed(work);
	}

	static CompletionStage<Boolean> completed(CompletionStage<? extends @Nullable Object> stage) {
		return stage.handle((result, failure) -> true);
	}

}
