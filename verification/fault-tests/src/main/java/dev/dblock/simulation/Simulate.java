package dev.dblock.simulation;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.dblock.simulation.SimulationOptions.Mode;
import dev.dblock.simulation.SimulationOptions.StoreKind;
import org.jspecify.annotations.Nullable;

/**
 * Command line of the simulation.
 */
public final class Simulate {

	private static final String USAGE = """
			scripts/simulate [--seed N] [--sections N] [--mode safety|liveness|jobs] [--store mongodb|memory|classic]
			                 [--trace] [--seeds N | --seconds N | --nightly] [--twice] [--first]
			scripts/simulate --kills [--scenario NAME] [--seed N] [--seeds N] [--step N] [--trace]
			scripts/simulate --mutants [--only TEXT] [--sections N]

			  --seed N        the first seed; random by default
			  --sections N    sections of each seed; 4000 by default
			  --mode MODE     safety, with faults all the time (default), liveness, with periods without faults,
			                  or jobs, which are scheduled
			  --store STORE   a simulated MongoDB server, memory, or a server without pipelines; by default, each
			                  seed has one of them
			  --trace         prints each step, with class and method
			  --seeds N       simulates N seeds in a row
			  --seconds N     simulates as many seeds as fit
			  --nightly       simulates a million sections
			  --twice         simulates each seed twice, and compares the steps
			  --kills         kills an instance at each method that it enters, in small scenarios
			  --scenario NAME only this scenario
			  --step N        kills only at this method
			  --first         ends with the first seed that breaks a promise
			  --mutants       breaks dblock in one way after the other, each of which a seed has to find
			  --only TEXT     only the mutants whose names contain that""";

	private static final List<String> FLAGS = List.of("trace", "nightly", "twice", "first", "mutants", "kills");

	private static final List<String> WITH_VALUE = List.of("seed", "sections", "mode", "store", "seeds", "seconds",
			"only", "scenario", "step");

	private static final int MUTANT_SECTIONS = 500;

	/** About four minutes. */
	private static final int JOB_SECTIONS = 400;

	private static final int NIGHTLY_SECTIONS = 1_000_000;

	private final Map<String, String> options;

	private final long seed;

	private final int sections;

	private final Mode mode;

	private final @Nullable StoreKind store;

	private final Map<String, Integer> counts = new TreeMap<>();

	private Simulate(Map<String, String> options) {
		this.options = options;
		this.seed = number("seed", ThreadLocalRandom.current().nextInt(1_000_000_000));
		this.mode = Mode.valueOf(options.getOrDefault("mode", "safety").toUpperCase(Locale.ROOT));
		this.store = options.containsKey("store") ? StoreKind.valueOf(options.get("store").toUpperCase(Locale.ROOT))
				: null;
		this.sections = (int) number("sections", (this.mode == Mode.JOBS) ? JOB_SECTIONS : 4000);
	}

	private long number(String option, long otherwise) {
		String value = this.options.get(option);
		return (value != null) ? Long.parseLong(value) : otherwise;
	}

	/**
	 * Run simulations, and exit with 0 if no promise was broken.
	 * @param args the options
	 * @throws IOException if the sources of mutants cannot be read
	 * @throws InterruptedException if this thread is interrupted
	 */
	public static void main(String[] args) throws IOException, InterruptedException {
		Simulate simulate;
		try {
			Map<String, String> options = parse(args);
			if (options.containsKey("help")) {
				System.out.println(USAGE);
				return;
			}
			simulate = new Simulate(options);
		}
		catch (IllegalArgumentException ex) {
			System.err.println(ex.getMessage());
			System.err.println(USAGE);
			System.exit(2);
			return;
		}
		boolean passed = simulate.run();
		System.out.println(passed ? "PASSED" : "FAILED");
		System.exit(passed ? 0 : 1);
	}

	private static Map<String, String> parse(String[] args) {
		Map<String, String> options = new HashMap<>();
		for (int i = 0; i < args.length; i++) {
			String name = args[i].startsWith("--") ? args[i].substring(2) : "";
			if (FLAGS.contains(name) || name.equals("help")) {
				options.put(name, "");
			}
			else if (WITH_VALUE.contains(name) && i + 1 < args.length) {
				options.put(name, args[++i]);
			}
			else {
				throw new IllegalArgumentException(
						"'" + args[i] + "' is no option, or lacks its value: " + Arrays.toString(args));
			}
		}
		return options;
	}

	private boolean run() throws IOException, InterruptedException {
		if (this.options.containsKey("mutants")) {
			return new SimulationMutants(this.options.getOrDefault("only", ""), number("sections", MUTANT_SECTIONS))
				.run();
		}
		System.out.println("first seed: " + this.seed);
		if (this.options.containsKey("kills")) {
			return kill();
		}
		long began = System.nanoTime();
		// All simulated threads run in this one
		long beganOnProcessor = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
		long limit = TimeUnit.SECONDS.toNanos(number("seconds", Long.MAX_VALUE / 1_000_000_000));
		long seeds = this.options.containsKey("nightly") ? (NIGHTLY_SECTIONS + this.sections - 1) / this.sections
				: number("seeds", this.options.containsKey("seconds") ? Long.MAX_VALUE : 1);
		boolean passed = true;
		long simulated = 0;
		long done = 0;
		while (done < seeds && System.nanoTime() - began < limit) {
			Result result = simulate(this.seed + done);
			passed &= result.passed();
			seeds = (passed || !this.options.containsKey("first")) ? seeds : 0;
			simulated += result.simulatedNanos();
			done++;
		}
		double real = (System.nanoTime() - began) / 1e9;
		double processor = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beganOnProcessor) / 1e9;
		System.out.printf(Locale.ROOT,
				"%d seeds, %d sections, %.0f s simulated in %.1f s (%.0f times real time), %.1f s of one processor (%.0f times)%n",
				done, done * this.sections, simulated / 1e9, real, simulated / 1e9 / real, processor,
				simulated / 1e9 / processor);
		this.counts.forEach((what, count) -> System.out.println("  " + what + ": " + count));
		return passed;
	}

	private boolean kill() {
		boolean passed = true;
		boolean first = this.options.containsKey("first");
		for (long seed = this.seed; seed < this.seed + number("seeds", 1) && (passed || !first); seed++) {
			for (Kills.Scenario scenario : Kills.Scenario.values()) {
				if (this.options.getOrDefault("scenario", scenario.name()).equalsIgnoreCase(scenario.name())) {
					passed &= Kills.all(scenario, seed, number("step", 0), this.options.containsKey("trace"));
				}
			}
		}
		return passed;
	}

	private Result simulate(long seed) {
		SimulationOptions simulation = new SimulationOptions(seed, this.sections, this.mode,
				(this.store != null) ? this.store : StoreKind.of(seed), this.options.containsKey("trace"));
		Result result = new Simulation(simulation).run();
		System.out.println(result);
		if (!result.passed()) {
			System.out.println("replay: " + simulation.replayCommand());
		}
		result.counts().forEach((what, count) -> this.counts.merge(what, count, Integer::sum));
		if (this.options.containsKey("twice")) {
			Result again = new Simulation(simulation).run();
			if (again.hash() != result.hash()) {
				System.out.println("NOT REPEATED, " + again);
				return again.failed("the same seed took other steps");
			}
		}
		return result;
	}

}
