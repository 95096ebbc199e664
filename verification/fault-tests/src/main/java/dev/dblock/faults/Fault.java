package dev.dblock.faults;

/**
 * Fault that lasts for a while and is then repaired. It logs its times.
 *
 * @param kind the name of the fault
 * @param forServers whether the fault affects the servers instead of one worker
 * @param action causes and repairs the fault
 */
record Fault(String kind, boolean forServers, Action action) {

	void happen(World world) throws Exception {
		this.action.happen(world, this.kind);
	}

	/**
	 * Causes and repairs a fault.
	 */
	interface Action {

		void happen(World world, String kind) throws Exception;

	}

}
