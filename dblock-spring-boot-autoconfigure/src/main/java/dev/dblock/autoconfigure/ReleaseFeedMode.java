package dev.dblock.autoconfigure;

/**
 * How waiting callers learn of releases by other instances.
 */
public enum ReleaseFeedMode {

	/**
	 * By the change stream of the server, or by polling where there is none. Each
	 * instance whose callers wait reads every release of the collection.
	 */
	AUTO,

	/**
	 * By polling. No instance opens a change stream.
	 */
	POLL

}
