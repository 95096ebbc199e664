package dev.dblock.benchmarks;

/**
 * Required limit of a line of the table.
 *
 * @param kind the side of the limit on which the value must lie
 * @param limit the limit
 */
record Bound(Kind kind, double limit) {

	static Bound atMost(double limit) {
		return new Bound(Kind.AT_MOST, limit);
	}

	static Bound atLeast(double limit) {
		return new Bound(Kind.AT_LEAST, limit);
	}

	static Bound exactly(double limit) {
		return new Bound(Kind.EXACTLY, limit);
	}

	boolean holds(double value) {
		return switch (this.kind) {
			case AT_MOST -> value <= this.limit;
			case AT_LEAST -> value >= this.limit;
			case EXACTLY -> value == this.limit;
		};
	}

	String describe(Unit unit) {
		return this.kind.sign + " " + unit.format(this.limit);
	}

	/**
	 * Side of a limit.
	 */
	enum Kind {

		AT_MOST("≤"), AT_LEAST("≥"), EXACTLY("=");

		private final String sign;

		Kind(String sign) {
			this.sign = sign;
		}

	}

}
