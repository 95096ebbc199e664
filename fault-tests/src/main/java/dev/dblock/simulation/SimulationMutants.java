package dev.dblock.simulation;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.tools.ToolProvider;

/**
 * Verifies the simulation: dblock is broken in one way after the other, and each time a
 * seed has to find that.
 */
final class SimulationMutants {

	/** Relative to the root of the project, from which {@code scripts/simulate} runs. */
	static final Path SOURCES = Path.of("dblock/src/main/java/dev/dblock");

	private static final int MOST_SEEDS = 1000;

	private static final Pattern FOUND = Pattern.compile("^seed (\\d+): \\d+ VIOLATIONS", Pattern.MULTILINE);

	private static final Pattern REASON = Pattern.compile("^VIOLATION at [^:]*: (.*)$", Pattern.MULTILINE);

	private final String only;

	private final long sections;

	SimulationMutants(String only, long sections) {
		this.only = only;
		this.sections = sections;
	}

	static List<Mutant> all() {
		String lease = "core/Lease.java";
		String queue = "core/LocalQueue.java";
		String completion = "core/LeaseCompletion.java";
		String store = "local/LocalLock.java";
		String requests = "core/LockRequests.java";
		String decision = "store/JobDecision.java";
		List<String> jobs = List.of("--mode", "jobs");
		return List.of(
				new Mutant("believe past the deadline", "core/LeaseDeadline.java", "return remainingNanos(clock) <= 0;",
						"return false;"),
				new Mutant("ignore a suspension", "core/LeaseDeadline.java",
						"return this.lostNanos > 0 || isLeap(aheadAtLeast(clock), clock);", "return false;"),
				new Mutant("skip the owner check", store, "if (!mine && (isTaken(now) || (decision",
						"if (!mine && ((decision"),
				new Mutant("release by name", store,
						"if (!by.equals(this.holder)) {\n\t\t\treturn false;\n\t\t}\n\t\tif (end",
						"if (this.holder == null) {\n\t\t\treturn false;\n\t\t}\n\t\tif (end"),
				new Mutant("a late renewal that shortens", store,
						"Math.max(this.expiresAt, endOf(this.leaseMillis, now))", "endOf(this.leaseMillis, now)"),
				new Mutant("an expired lease revived", store, "if (!by.equals(this.holder) || !isTaken(now)) {",
						"if (!by.equals(this.holder)) {"),
				new Mutant("a planned time granted again", store, "(decision != null && !decision.granted())", "false"),
				new Mutant("a lease that counts from its answer", requests,
						"Thread.currentThread(), deadline, this.clock)",
						"Thread.currentThread(), LeaseDeadline.from(this.clock, terms.lease()), this.clock)"),
				new Mutant("a renewal that counts from its answer", "core/LeaseRenewer.java",
						"lease.prove(sent.withLease(lease.terms().lease()));",
						"lease.prove(LeaseDeadline.from(this.clock, lease.terms().lease()));"),
				new Mutant("an exact end trusted before its answer", lease,
						"this.deadline = this.deadline.upTo(exact);", ""),
				new Mutant("a proof accepted during an exact change", lease,
						"if (this.exactChanges == 0 && (from == null || proof.sentNanos() - from > 0)) {",
						"if (true) {"),
				new Mutant("an extension trusted without its answer", "core/LeaseKeeper.java",
						"\t\t\tlease.maybeExtended(LeaseDeadline.from(this.clock, atLeast));",
						"\t\t\tlease.prove(LeaseDeadline.from(this.clock, atLeast));"),
				new Mutant("a successor that gets no handle", queue, "next.hand(handle);", ""),
				new Mutant("a handed lock dropped by a waiter that gives up", queue,
						"if (!this.waiters.remove(waiter)) {\n\t\t\treturn false;",
						"if (!this.waiters.remove(waiter)) {\n\t\t\treturn true;"),
				new Mutant("a release that is counted for ever", queue, "this.releases--;", ""),
				new Mutant("a released lease that is still maintained", completion,
						"this.registry.remove(lease);\n\t\t\treturn this.releaser.release(lease);",
						"return this.releaser.release(lease);"),
				new Mutant("a loss at the release not reported", completion, "this.losses.loseAtRelease(lease);", ""),
				new Mutant("losses at the shutdown not reported", "core/DefaultLockEngine.java",
						"this.losses.loseAtShutdown(List.copyOf(this.registry.all()));", ""),
				new Mutant("the end of a lease not noticed", "core/LeaseWatchdog.java", "this.losses.expire(lease);",
						""),
				new Mutant("a finished thread not forgotten", completion,
						"lease.owner().finish();\n\t\tthis.registry.finished(lease);\n\t\tthis.losses.endIfOver(lease);",
						"this.losses.endIfOver(lease);"),
				new Mutant("a skipped run repeated", decision, "firing.rerun() && lock.isRepeatable(before)",
						"lock.isRepeatable(before)", jobs),
				new Mutant("a crashed run not repeated", decision, "firing.rerun() && lock.isRepeatable(before)",
						"false", List.of("--kills", "--scenario", "rerun")),
				new Mutant("a finished run repeated", decision,
						"boolean crashed = end == JobRun.Outcome.CRASHED || end == JobRun.Outcome.LOST;",
						"boolean crashed = end != null;", jobs),
				new Mutant("attempts without a limit", decision, "crashed && run.attempt() < MOST_ATTEMPTS", "crashed",
						jobs),
				new Mutant("a planned time granted early", decision, "due > now + EARLIEST", "false", jobs),
				new Mutant("planned by the clock of the instance", "job/schedule/StoreClock.java",
						"return (this.reading != null) ? this.reading.at(nanoTime()) : own.instant();",
						"return own.instant();", jobs),
				new Mutant("a fixed rate without its last run", decision,
						"return last.planned() + rate.period().toMillis();", "return now;", jobs));
	}

	/**
	 * Simulate all mutants.
	 * @return whether each was found
	 */
	boolean run() throws IOException, InterruptedException {
		boolean all = true;
		for (Mutant mutant : all()) {
			if (mutant.name().contains(this.only)) {
				long began = System.nanoTime();
				String output = simulate(mutant);
				Matcher found = FOUND.matcher(output);
				Matcher reason = REASON.matcher(output);
				boolean seen = found.find() && reason.find();
				all &= seen;
				System.out.printf("%-9s | %s | %s | %d s | %s%n", seen ? "found" : "NOT FOUND", mutant.name(),
						seen ? found.group(1) : "", (System.nanoTime() - began) / 1_000_000_000,
						seen ? reason.group(1) : output.lines().reduce((first, last) -> last).orElse(""));
			}
		}
		return all;
	}

	/**
	 * Simulate seeds in another JVM with the same agent, up to the first violation.
	 */
	private String simulate(Mutant mutant) throws IOException, InterruptedException {
		Path folder = Files.createTempDirectory("simulation-mutant-");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
		command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
		command.addAll(List.of("-cp", mutant.classPath(SOURCES, folder), Simulate.class.getName(), "--seed", "1",
				"--seeds", Integer.toString(MOST_SEEDS), "--sections", Long.toString(this.sections), "--first"));
		command.addAll(mutant.options());
		Path output = folder.resolve("output");
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
		process.waitFor();
		return Files.readString(output);
	}

	/**
	 * Deliberately broken dblock.
	 *
	 * @param name the name of the broken rule
	 * @param source the source file
	 * @param original the original text, which occurs exactly once
	 * @param replacement the new text
	 * @param options the options of the simulation that has to find it
	 */
	record Mutant(String name, String source, String original, String replacement, List<String> options) {

		Mutant(String name, String source, String original, String replacement) {
			this(name, source, original, replacement, List.of());
		}

		/**
		 * Put the broken class before all others on the class path.
		 */
		String classPath(Path sources, Path folder) throws IOException {
			String classPath = System.getProperty("java.class.path");
			Path broken = folder.resolve(Path.of(this.source).getFileName());
			Files.writeString(broken, brokenSource(sources));
			int errors = ToolProvider.getSystemJavaCompiler()
				.run(null, null, null, "-parameters", "-nowarn", "-proc:none", "--release", "17", "-cp", classPath,
						"-d", folder.resolve("classes").toString(), broken.toString());
			if (errors != 0) {
				throw new IllegalStateException("the mutant '" + this.name + "' cannot be compiled");
			}
			return folder.resolve("classes") + File.pathSeparator + classPath;
		}

		/**
		 * Return the source with the change.
		 * @throws IllegalStateException if the text to be replaced does not occur exactly
		 * once
		 */
		String brokenSource(Path sources) throws IOException {
			String text = Files.readString(sources.resolve(this.source));
			int first = text.indexOf(this.original);
			if (first < 0 || text.indexOf(this.original, first + 1) >= 0) {
				throw new IllegalStateException(
						"the mutant '%s' does not fit %s any more".formatted(this.name, this.source));
			}
			return text.replace(this.original, this.replacement);
		}

	}

}
