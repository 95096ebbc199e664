package dev.dblock.benchmarks;

import java.util.Locale;

/**
 * What a line of the table must reach.
 *
 * @param most whether the value is to be at most the limit, not at least
 * @param limit the limit
 */
record Bound(boolean most, double limit) {

	static Bound atMost(double limit) {
		return new Bound(true, limit);
	}

	static Bound atLeast(double limit) {
		return new Bound(false, limit);
	}

	boolean holds(double value) {
		return this.most ? value <= this.limit : value >= this.limit;
	}

	String describe(Unit unit) {
		return (this.most ? "≤ " : "≥ ") + unit.format(this.limit);
	}

	@Override
	public String toString() {
		return String.format(Locale.ROOT, "at %s %s", this.most ? "most" : "least", this.limit);
	}

}
