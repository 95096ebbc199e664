package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * Checks whether a run could have shown violations. A run in which nothing happens shows
 * nothing.
 */
final class Power {

	private final History history;

	Power(History history) {
		this.history = history;
	}

	/**
	 * Return the planned faults that never occurred, if the plan is known, and for a long
	 * run also the figures that are zero.
	 * @param lostUnfenced the number of updates that were lost without a fence
	 * @param renewedLeases the number of leases of 10 s that were renewed through
	 * elections
	 */
	List<Finding> findings(int lostUnfenced, long renewedLeases) {
		Plan plan = this.history.plan();
		if (plan == null) {
			return List.of();
		}
		String what = "faults that were never done";
		if (!plan.isLong()) {
			return List.of(Finding.figure(what, neverDone(plan)));
		}
		return List.of(Finding.rule(what, neverDone(plan)), Finding.rule(
				"figures that are 0, so that the run had no power to show it", powerless(lostUnfenced, renewedLeases)));
	}

	private List<String> neverDone(Plan plan) {
		return plan.faults()
			.stream()
			.filter((kind) -> this.history.windows().stream().noneMatch((window) -> window.kind().equals(kind)))
			.toList();
	}

	private List<String> powerless(int lostUnfenced, long renewedLeases) {
		List<String> cases = new ArrayList<>();
		if (lostUnfenced == 0) {
			cases.add("no unfenced update was lost, as fenced ones must not be");
		}
		if (this.history.attempts().stream().noneMatch((each) -> each.written() == Written.REFUSED_BY_FENCE)) {
			cases.add("no transaction was refused by its fence, as stale ones must be");
		}
		if (renewedLeases == 0) {
			cases.add("no lease of 10 s was renewed through an election of which it was judged, as all must be");
		}
		return cases;
	}

}
