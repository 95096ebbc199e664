package dev.dblock.benchmarks;

import java.util.Locale;

/**
 * What a number counts, and how people read it.
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
	 * So many a second.
	 */
	PER_SECOND {
		@Override
		String format(double value) {
			return number(value) + " /s";
		}
	},

	/**
	 * Memory.
	 */
	BYTES {
		@Override
		String format(double value) {
			return number(value) + " B";
		}
	},

	/**
	 * A number of something that cannot be divided.
	 */
	COUNT {
		@Override
		String format(double value) {
			return (value == Math.rint(value)) ? String.format(Locale.ROOT, "%,d", (long) value) : number(value);
		}
	},

	/**
	 * How many times as much.
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
