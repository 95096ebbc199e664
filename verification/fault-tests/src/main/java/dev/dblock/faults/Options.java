package dev.dblock.faults;

import java.util.HashMap;
import java.util.Map;

/**
 * Options of the command line, each with its name after two dashes, followed by its
 * value.
 *
 * @param values the values by their names
 */
record Options(Map<String, String> values) {

	static Options parse(String[] args, int from) {
		Map<String, String> values = new HashMap<>();
		for (int i = from; i < args.length; i += 2) {
			if (!args[i].startsWith("--") || i + 1 == args.length) {
				throw new IllegalArgumentException("'" + args[i] + "' is no option with a value");
			}
			values.put(args[i].substring(2), args[i + 1]);
		}
		return new Options(Map.copyOf(values));
	}

	Options orElse(String name, long value) {
		Map<String, String> all = new HashMap<>(this.values);
		all.putIfAbsent(name, Long.toString(value));
		return new Options(Map.copyOf(all));
	}

	String text(String name, String otherwise) {
		return this.values.getOrDefault(name, otherwise);
	}

	long number(String name, long otherwise) {
		String value = this.values.get(name);
		try {
			return (value != null) ? Long.parseLong(value) : otherwise;
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException("'" + value + "' is no number, but --" + name + " takes one", ex);
		}
	}

}
