package dev.dblock.annotation.invocation;

import org.jspecify.annotations.Nullable;

/**
 * Makes calls of one locked method that are observed, such as a scheduler. Other code can
 * call the method as well.
 */
public interface CallSource {

	/**
	 * Whether the source makes calls at all, so that those by other code differ.
	 * @return whether it does
	 */
	boolean isActive();

	/**
	 * Take the call that the source makes in the current thread.
	 * @return its observer, or {@code null} if other code makes the call
	 */
	@Nullable CallObserver take();

	/**
	 * Whether an observed call is one of this method.
	 * @param call the observer of the call
	 * @return whether it is
	 */
	boolean isOf(CallObserver call);

}
