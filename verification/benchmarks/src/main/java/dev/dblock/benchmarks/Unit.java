package dev.dblock.benchmarks;

import java.util.Locale;

/**
 * Unit of a number, with its text format.
 */
enum Unit {

	/**
	 * A time in nanoseconds.
	 */
	NANOS {
		@Override
		String format(double value) {
			double magnitude = Math.abs(value);
			if (magnitude < 1e3) {
				return number(value) + " ns";
			}
			if (magnitude < 1e6) {
				return number(value / 1e3) + " µs";
			}
			return (magnitude < 1e9) ? number(value / 1e6) + " ms" : number(value / 1e9) + " s";
		}
	},

	/**
	 * A rate per second.
	 */
	PER_SECOND {
		@Override
		String format(double value) {
			return number(value) + " /s";
		}
	},

	/**
	 * An amount of memory, in bytes.
	 */
	BYTES {
		@Override
		String format(double value) {
			return number(value) + " B";
		}
	},

	/**
	 * Processor time per elapsed time.
	 */
	CORES {
		@Override
		String format(double value) {
			return String.format(Locale.ROOT, "%.2f cores", value);
		}
	},

	/**
	 * A count of indivisible items.
	 */
	COUNT {
		@Override
		String format(double value) {
			return (value == Math.rint(value)) ? String.format(Locale.ROOT, "%,d", (long) value) : number(value);
		}
	},

	/**
	 * A ratio of two values.
	 */
	RATIO {
		@Override
		String format(double value) {
			return (value < 100) ? String.format(Locale.ROOT, "%.2f", value) : number(value);
		}
	};

	abstract String format(double value);

	private static String number(double value) {
		double magnitude = Math.abs(value);
		int digits = (magnitude >= 100 || value == Math.rint(value)) ? 0 : (magnitude >= 10) ? 1 : 2;
		return String.format(Locale.ROOT, "%,." + digits + "f", value);
	}

}
