package dev.dblock.benchmarks;

import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Line of the results table.
 *
 * @param id the id of the case
 * @param what the subject of the measurement
 * @param value the measured value, or {@code null} if there is none
 * @param against the name of the reference
 * @param reference the measured value of the reference
 * @param ratio the ratio of the two
 * @param bound the required limit, for the ratio if there is one, else for the value
 * @param verdict the verdict
 * @param note additional remarks
 */
record Line(String id, String what, @Nullable Quantity value, @Nullable String against, @Nullable Quantity reference,
		@Nullable Spread ratio, @Nullable Bound bound, Verdict verdict, String note) {

	/**
	 * Create a line whose bound applies to the value itself.
	 */
	static Line absolute(String id, String what, Quantity value, @Nullable Bound bound, String note) {
		return new Line(id, what, value, null, null, null, bound, Verdict.of(bound, value.value()), note);
	}

	/**
	 * Create a line whose bound applies to the ratio of the value to a reference.
	 */
	static Line compared(String id, String what, Quantity value, String against, Quantity reference, Spread ratio,
			@Nullable Bound bound) {
		return new Line(id, what, value, against, reference, ratio, bound, Verdict.of(bound, ratio.median()), "");
	}

	/**
	 * Create a line for a measurement that was not possible because something is not
	 * installed.
	 */
	static Line missing(String id, String what, @Nullable Bound bound, String reason) {
		return new Line(id, what, null, null, null, null, bound, Verdict.MISSING, reason);
	}

	/**
	 * Create a line for a case that failed.
	 */
	static Line failed(String id, String what, Throwable failure) {
		return new Line(id, what, null, null, null, null, null, Verdict.MISSED, "failed: " + failure);
	}

	/**
	 * Return the same line with a better name for the reference.
	 */
	Line comparedWith(String against) {
		return new Line(this.id, this.what, this.value, against, this.reference, this.ratio, this.bound, this.verdict,
				this.note);
	}

	Line withNote(String note) {
		return new Line(this.id, this.what, this.value, this.against, this.reference, this.ratio, this.bound,
				this.verdict, note);
	}

	/**
	 * Return whether this line prevents the run as a whole from passing.
	 */
	boolean isShort() {
		return this.verdict == Verdict.MISSED || this.verdict == Verdict.MISSING && this.bound != null;
	}

	String boundText() {
		if (this.bound == null || this.value == null) {
			return "";
		}
		return this.bound.describe((this.ratio != null) ? Unit.RATIO : this.value.unit());
	}

	Document toDocument() {
		Document document = new Document("case", this.id).append("what", this.what)
			.append("verdict", this.verdict.name())
			.append("value", (this.value != null) ? this.value.toDocument() : null);
		if (this.against != null && this.reference != null) {
			document.append("against", this.reference.toDocument().append("subject", this.against));
		}
		if (this.ratio != null) {
			document.append("ratio",
					new Document("median", this.ratio.median()).append("lowerQuartile", this.ratio.lower())
						.append("upperQuartile", this.ratio.upper())
						.append("rounds", this.ratio.count()));
		}
		if (this.bound != null) {
			document.append("mustReach",
					new Document("kind", this.bound.kind().name()).append("limit", this.bound.limit()));
		}
		return document.append("note", this.note);
	}

	/**
	 * Verdict on a line.
	 */
	enum Verdict {

		/**
		 * The bound was reached.
		 */
		REACHED("yes"),

		/**
		 * The bound was not reached.
		 */
		MISSED("**no**"),

		/**
		 * The value could not be measured, so no bound was reached.
		 */
		MISSING("**missing**"),

		/**
		 * There is no bound.
		 */
		INFORMATION("");

		private final String text;

		Verdict(String text) {
			this.text = text;
		}

		private static Verdict of(@Nullable Bound bound, double value) {
			if (bound == null) {
				return INFORMATION;
			}
			return bound.holds(value) ? REACHED : MISSED;
		}

		String text() {
			return this.text;
		}

	}

}
