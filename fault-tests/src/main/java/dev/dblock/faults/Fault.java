package dev.dblock.faults;

/**
 * Something that goes wrong for a while and is mended again. It logs when.
 *
 * @param kind what it is called
 * @param forServers whether it happens to the servers; else to one worker
 * @param action does it and mends it
 */
record Fault(String kind, boolean forServers, Action action) {

	void happen(World world) throws Exception {
		this.action.happen(world, this.kind);
	}

	/**
	 * What happens.
	 */
	interface Action {

		void happen(World world, String kind) throws Exception;

	}

}
