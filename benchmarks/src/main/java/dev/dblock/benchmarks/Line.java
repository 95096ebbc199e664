package dev.dblock.benchmarks;

import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A line of the table.
 *
 * @param id the case
 * @param what what is measured
 * @param value what came out, if it was measured
 * @param against what it is compared with
 * @param reference what came out for that
 * @param ratio the ratio of the two
 * @param bound what must be reached, by the ratio if there is one, else by the value
 * @param verdict what came of it
 * @param note what else there is to say
 */
record Line(String id, String what, @Nullable Quantity value, @Nullable String against, @Nullable Quantity reference,
		@Nullable Spread ratio, @Nullable Bound bound, Verdict verdict, String note) {

	/**
	 * A value that must reach something by itself.
	 */
	static Line absolute(String id, String what, Quantity value, @Nullable Bound bound, String note) {
		return new Line(id, what, value, null, null, null, bound, Verdict.of(bound, value.value()), note);
	}

	/**
	 * A value whose ratio to another must reach something.
	 */
	static Line compared(String id, String what, Quantity value, String against, Quantity reference, Spread ratio,
			@Nullable Bound bound) {
		return new Line(id, what, value, against, reference, ratio, bound, Verdict.of(bound, ratio.median()), "");
	}

	/**
	 * What could not be measured here, since something is not installed.
	 */
	static Line missing(String id, String what, @Nullable Bound bound, String reason) {
		return new Line(id, what, null, null, null, null, bound, Verdict.MISSING, reason);
	}

	/**
	 * A case that broke.
	 */
	static Line failed(String id, String what, Throwable failure) {
		return new Line(id, what, null, null, null, null, null, Verdict.MISSED, "failed: " + failure);
	}

	/**
	 * The same line with a better word for what it is compared with.
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
	 * Whether the run as a whole cannot count as passed.
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
	 * What came of a line.
	 */
	enum Verdict {

		/**
		 * What it must reach was reached.
		 */
		REACHED("yes"),

		/**
		 * It was not.
		 */
		MISSED("**no**"),

		/**
		 * It could not be measured, so nothing was reached.
		 */
		MISSING("**missing**"),

		/**
		 * Nothing is asked of it.
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
