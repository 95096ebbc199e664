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
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import dev.dblock.testing.LibrarySources;

/**
 * Verifies the simulation: dblock is broken in one way after the other, and each time a
 * seed has to find that.
 */
final class SimulationMutants {

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
		return Stream.of(ofEngine(), ofMongo(), ofJobs()).flatMap(List::stream).toList();
	}

	private static List<Mutant> ofEngine() {
		String lease = "core/lease/Lease.java";
		String trusted = "core/lease/TrustedTime.java";
		String queue = "core/queue/LocalQueue.java";
		String completion = "core/LeaseCompletion.java";
		String store = "local/LocalLock.java";
		String requests = "core/LockRequests.java";
		String state = "transaction/LeaseState.java";
		String keeper = "core/LeaseKeeper.java";
		String acquirer = "core/LockAcquirer.java";
		String losses = "core/LeaseLosses.java";
		String releaser = "core/LeaseReleaser.java";
		String engine = "core/EngineParts.java";
		String hold = "execution/Hold.java";
		return List.of(
				new Mutant("believe past the deadline", "core/lease/LeaseDeadline.java",
						"return remainingNanos(clock) <= 0;", "return false;"),
				new Mutant("ignore a suspension", "core/lease/LeaseDeadline.java",
						"return this.lostNanos > 0 || isLeap(aheadAtLeast(clock), clock);", "return false;"),
				new Mutant("skip the owner check", store, "if (!mine && (isTaken(now) || (decision",
						"if (!mine && ((decision"),
				new Mutant("requests closed though there is a new one", store,
						"if (!Objects.equals(this.last, seen)) {", "if (false) {"),
				new Mutant("a holder asked that has closed its requests", store, "if (this.closed) {", "if (false) {"),
				new Mutant("requests not closed before the release", "execution/RepeatedWork.java",
						"if (asked == null) {", "if (true) {"),
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
						"lease.trusted().prove(sent.withLease(lease.terms().lease()));",
						"lease.trusted().prove(LeaseDeadline.from(this.clock, lease.terms().lease()));"),
				new Mutant("an exact end trusted before its answer", trusted,
						"this.deadline = this.deadline.upTo(exact);", ""),
				new Mutant("a proof accepted during an exact change", trusted,
						"if (this.exactChanges == 0 && (from == null || proof.sentNanos() - from > 0)) {",
						"if (true) {"),
				new Mutant("an extension trusted without its answer", "core/LeaseKeeper.java",
						"\t\t\tlease.trusted().maybeExtended(LeaseDeadline.from(this.clock, atLeast));",
						"\t\t\tlease.trusted().prove(LeaseDeadline.from(this.clock, atLeast));"),
				new Mutant("a successor that gets no handle", queue, "next.hand(handle);", ""),
				new Mutant("a handed lock dropped by a waiter that gives up", queue,
						"if (!this.waiters.remove(waiter)) {\n\t\t\treturn false;",
						"if (!this.waiters.remove(waiter)) {\n\t\t\treturn true;"),
				new Mutant("a release that is counted for ever", queue, "this.releases.end();", ""),
				new Mutant("a released lease that is still maintained", completion,
						"this.registry.remove(lease);\n\t\t\treturn this.releaser.release(lease);",
						"return this.releaser.release(lease);"),
				new Mutant("a loss at the release not reported", completion,
						"this.losses.loseAtRelease(lease, handle);", ""),
				new Mutant("losses at the shutdown not reported", "core/EngineParts.java",
						"this.losses.loseAtShutdown(List.copyOf(this.registry.all()));", ""),
				new Mutant("the end of a lease not noticed", "core/LeaseWatchdog.java", "this.losses.expire(lease);",
						""),
				new Mutant("a finished thread not forgotten", completion,
						"lease.owner().finish();\n\t\tthis.registry.finished(lease);\n\t\treturn releaseNow(handle);",
						"return releaseNow(handle);"),
				new Mutant("a hand-over during a change", state,
						"allows(Event.HAND_OVER) && !this.changed && isClear()",
						"allows(Event.HAND_OVER) && isClear()"),
				new Mutant("a change after a hand-over", state, "this.changed |= held;\n\t\treturn held;",
						"return true;"),
				new Mutant("acquisitions with the same id", requests, "this.clock.newId()", "\"one\""),
				new Mutant("tokens that only follow the clock", store,
						"Math.max(this.token + 1, now * TOKENS_PER_MILLI)", "now * TOKENS_PER_MILLI"),
				new Mutant("a successor with the same token", lease, "new Grant(this.key, this.token + 1,",
						"new Grant(this.key, this.token,"),
				new Mutant("a release without the rest of the minimum hold", store,
						"minHoldLeft.isZero() ? FREE : endOf(millis(minHoldLeft), now)", "FREE"),
				new Mutant("a hand-over during the minimum hold", lease, "&& this.holdTime.minHoldLeftNanos() == 0",
						""),
				new Mutant("a suspension between two proofs not counted", "core/lease/LeaseDeadline.java",
						"Math.max(elapsed, wall)", "elapsed"),
				new Mutant("steps of the clock not observed", "core/LeaseWatchdog.java",
						"lease.trusted().observeClocks();", ""),
				new Mutant("overlapping exact changes trusted", trusted, "confirmed && !this.exactChangesOverlap",
						"confirmed"),
				new Mutant("an exact end trusted without its answer", keeper,
						"lease.trusted().endExactChange(exact, confirmed);",
						"lease.trusted().endExactChange(exact, true);"),
				new Mutant("a refused extension trusted", keeper,
						"if (this.repository.extend(lease.key(), atLeast, this.timeout)) {",
						"if (this.repository.extend(lease.key(), atLeast, this.timeout) || true) {"),
				new Mutant("a handed waiter that stays in the queue", queue, "\t\tthis.waiters.remove(next);\n", ""),
				new Mutant("a queue removed while a thread uses it", queue, "&& this.visitors == 0;", ";"),
				new Mutant("a handed lock that nobody takes", acquirer, "if (handed != null && handed != this.taken) {",
						"if (false) {"),
				new Mutant("a lock that nobody takes not released", completion, "if (!handOver(lease)) {",
						"if (!handOver(lease) && false) {"),
				new Mutant("a lock granted after the shutdown", acquirer,
						"if (this.closed) {\n\t\t\t\tthrow new LockShutdownException(handle.name());\n\t\t\t}", ""),
				new Mutant("a waiter that gives up without its last request", queue,
						"return last == null || !waiter.isAnsweredLate() && last.last().failure() == null;",
						"return false;"),
				new Mutant("a callback of a loss that was before", "core/LeaseHandle.java", "\t\t}\n\t\trun(callback);",
						"\t\t}"),
				new Mutant("callbacks kept after a loss", "core/LeaseHandle.java", "this.lostCallbacks = null;", ""),
				new Mutant("a lost lease still maintained", losses, "this.registry.moveToLost(lease);", ""),
				new Mutant("a loss reported to the log alone", losses,
						"reason.description(), detail));\n\t\tnotify(lease, handle, reason);",
						"reason.description(), detail));"),
				new Mutant("the end of a lease not noticed by its work", losses,
						"if (lease.end() == null && lease.isOver()) {", "if (false) {"),
				new Mutant("a loss found by the release not reported", releaser,
						"return matched || proven && attempt > 1;", "return true;"),
				new Mutant("an abandoned attempt not released", requests,
						"this.releaser.releaseDoubtful(key, deadline, left, terms.inDoubt(key, ex));\n\t\t\t\t\t}",
						"}"),
				new Mutant("a kept lock not released at the shutdown", engine, "releaseKept();", ""),
				new Mutant("leases that are not renewed", "core/LeaseWatchdog.java", "if (lease.isRenewing()) {",
						"if (false) {"),
				new Mutant("a group of leases renewed only once", "core/LeaseWatchdog.java",
						"this.busy = false;\n\t\t\t\ttickWithin(pause);", "tickWithin(pause);"),
				new Mutant("shared work that is not counted", hold, "this.users += open ? 1 : 0;", ""),
				new Mutant("shared work that releases the lock twice", hold,
						"boolean alone = this.owned && this.users == 1;", "boolean alone = this.owned;"),
				new Mutant("several locks kept after a refusal", "execution/SeveralLocks.java",
						"if (!complete) {\n\t\t\t\t\treleaseAll();", "if (false) {"),
				new Mutant("a future that ends before its work", "execution/LockedFuture.java",
						"this.work.whenComplete(this::ended);\n\t\t\treturn;",
						"CallThreads.execute(() -> end(null, null));\n\t\t\treturn;"));
	}

	private static List<Mutant> ofMongo() {
		String pipeline = "mongodb/request/PipelineStatements.java";
		String classic = "mongodb/request/ClassicStatements.java";
		String common = "mongodb/request/CommonStatements.java";
		return List.of(new Mutant("pipeline: requests closed though there is a new one", common,
				"askable(lease).append(RUN_AGAIN_ASKED, (seen != null) ? text(seen) : IS_ABSENT);", "askable(lease);"),
				new Mutant("classic: a holder asked that has closed its requests", common,
						".append(RUN_AGAIN_CLOSED, IS_ABSENT)", ""),
				new Mutant("pipeline: skip the owner check", pipeline,
						"OURS_AND_FREE = doc(\"$and\", doc(\"$lte\", EXPIRES_AT, NOW),",
						"OURS_AND_FREE = doc(\"$and\","),
				new Mutant("pipeline: a lease that ends early", pipeline,
						"OURS_AND_FREE = doc(\"$and\", doc(\"$lte\", EXPIRES_AT, NOW),",
						"OURS_AND_FREE = doc(\"$and\", doc(\"$lte\", EXPIRES_AT, doc(\"$add\", NOW, number(1500))),"),
				new Mutant("pipeline: an expired lease revived", pipeline,
						"doc(\"$expr\", doc(\"$gt\", EXPIRES_AT, NOW));", "doc(\"$expr\", BsonBoolean.TRUE);"),
				new Mutant("pipeline: a late renewal that shortens", pipeline,
						"ending(doc(\"$max\", EXPIRES_AT, until), until);", "ending(until, until);"),
				new Mutant("pipeline: an exact end in place of a later change", pipeline,
						"held.append(LockDocument.UPDATED_AT, updatedAt)", "held"),
				new Mutant("pipeline: tokens by the time only", pipeline,
						"doc(\"$max\", doc(\"$add\", TOKEN, number(tokens)), lastTokenOfNow(tokens));",
						"lastTokenOfNow(tokens);"),
				new Mutant("pipeline: the answer not read", pipeline,
						"return document.isHeldBy(request.key().holder()) ? granted(request, document, request.tokens())",
						"return !document.isHeldBy(\"\") ? granted(request, document, request.tokens())"),
				new Mutant("pipeline: a planned time granted again", "job/mongodb/JobExpressions.java",
						"doc(\"$and\", free, doc(\"$lt\", this.planned, at(asked)),",
						"doc(\"$and\", free, doc(\"$lte\", this.planned, at(asked)),"),
				new Mutant("pipeline: a grant without a majority", pipeline, ".append(\"writeConcern\", MAJORITY);",
						";"),
				new Mutant("release by name on MongoDB", common,
						"ids(lease).append(LockDocument.HOLDER, text(lease.holder()));", "ids(lease);"),
				new Mutant("an abandoned attempt released under the first permit only", "store/LeaseKey.java",
						"(this.permit == 0) ? Permits.ids(this.name, this.permits)",
						"(this.permit == 0) ? List.of(this.name)"),
				new Mutant("one permit too many", "local/LocalLockStore.java", "permit <= request.key().permits();",
						"permit <= request.key().permits() + 1;"),
				new Mutant("pipeline: a plain lock granted beside permits", pipeline,
						"doc(\"$lte\", PERMITS, number(1));", "doc(\"$lte\", PERMITS, number(1000));"),
				new Mutant("leases kept without the allowance", "mongodb/request/LeaseTimes.java",
						"return promised + this.clockAllowance + driftOf(promised);", "return promised;"),
				new Mutant("classic: a take-over by the latest time", classic,
						"if (found != null && found.isTakenAt(now.notBefore())) {",
						"if (found != null && found.isTakenAt(now.notAfter())) {"),
				new Mutant("classic: a lease dated by the earliest time", classic,
						"return now.notAfter() + ClockSample.TOLERANCE + this.times.untilFree(promised);",
						"return now.notBefore() + this.times.untilFree(promised);"),
				new Mutant("classic: a take-over without a comparison", classic,
						"BsonDocument filter = asRead(request.key().id(), found);",
						"BsonDocument filter = doc(LockDocument.ID, text(request.key().id()));"),
				new Mutant("no fence raised at the take-over", "mongodb/MongoLockRepository.java",
						"fences().raise(store, name, Fences.ALL_SLOTS, grant.token());", ""),
				new Mutant("a fence raised in one slot", "mongodb/MongoLockRepository.java",
						"fences().raise(store, name, Fences.ALL_SLOTS, grant.token());",
						"fences().raise(store, name, List.of(0), grant.token());"),
				new Mutant("a transaction without its fence", "mongodb/LockFence.java",
						"return fenced().write(this.client, this.session, lease, token, slot);",
						"return Written.DONE;"),
				new Mutant("a fence that is not compared", "mongodb/Fences.java",
						"written.getInt64(LockDocument.TOKEN).getValue() == token;", "token > 0;"),
				new Mutant("a release without notice of a transaction", "core/lease/Lease.java",
						"if (this.state.isUnsettled()) {", "if (false) {", List.of("--store", "mongodb")),
				new Mutant("a hand-over under a transaction", "transaction/LeaseState.java",
						"allows(Event.HAND_OVER) && !this.changed && isClear()",
						"allows(Event.HAND_OVER) && !this.changed", List.of("--store", "mongodb")));
	}

	private static List<Mutant> ofJobs() {
		String decision = "job/JobDecision.java";
		List<String> jobs = List.of("--mode", "jobs", "--store", "memory");
		return List.of(
				new Mutant("a skipped run repeated", decision, "firing.rerun() && before.isRepeatable(lock)",
						"before.isRepeatable(lock)", jobs),
				new Mutant("a crashed run not repeated", decision, "firing.rerun() && before.isRepeatable(lock)",
						"false", List.of("--kills", "--scenario", "rerun", "--store", "memory")),
				new Mutant("a finished run repeated", "job/StoredJob.java",
						"boolean crashed = end == JobRun.Outcome.CRASHED || end == JobRun.Outcome.LOST;",
						"boolean crashed = end != null;", jobs),
				new Mutant("attempts without a limit", "job/StoredJob.java",
						"crashed && this.attempt < JobDecision.MOST_ATTEMPTS", "crashed", jobs),
				new Mutant("a planned time granted early", decision, "due > now + EARLIEST", "false", jobs),
				new Mutant("planned by the clock of the instance", "job/trigger/StoreClock.java",
						"return (this.reading != null) ? this.reading.at(nanoTime()) : own.instant();",
						"return own.instant();", jobs),
				new Mutant("a fixed rate without its last run", decision,
						"return last.planned() + rate.period().toMillis();", "return now;", jobs),
				new Mutant("a grant without an answer, not accounted for", "job/schedule/DoubtfulTimes.java",
						"this.failures.put(planned, String.valueOf(failure.getMessage()));", "", jobs),
				new Mutant("a run during the shutdown, not accounted for", "job/schedule/JobPlans.java",
						"if (!found.isEmpty()) {", "if (true) {", jobs),
				new Mutant("shards that are not accounted for", "job/schedule/Shards.java",
						"isBegun(run) && run.shards() >= shard.number()", "false", jobs),
				new Mutant("a planned time settled under one id only", "job/method/JobPolicies.java",
						"+ \"#\" + method.getName();", "+ \"#\" + method.getName() + policy;",
						List.of("--mode", "jobs", "--store", "mongodb")),
				new Mutant("reports from a record that can be rolled back", "mongodb/request/CommonStatements.java",
						"update(store, found.filter().append(LockDocument.ID, text(name)), UNCHANGED)", "true",
						List.of("--mode", "jobs", "--store", "classic")));
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
		command.addAll(List.of("-cp", mutant.classPath(LibrarySources.FOLDER, folder), Simulate.class.getName(),
				"--seed", "1", "--seeds", Integer.toString(MOST_SEEDS), "--sections", Long.toString(this.sections),
				"--first"));
		command.addAll(mutant.store());
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
		 * Return the options for the store that uses the broken class, if there is only
		 * one.
		 */
		List<String> store() {
			if (this.source.startsWith("local/")) {
				return List.of("--store", "memory");
			}
			return this.source.contains("mongodb/")
					? List.of("--store", this.name.startsWith("classic") ? "classic" : "mongodb") : List.of();
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
			String text = LibrarySources.read(sources, this.source);
			int first = text.indexOf(this.original);
			if (first < 0 || text.indexOf(this.original, first + 1) >= 0) {
				throw new IllegalStateException(
						"the mutant '%s' does not fit %s any more".formatted(this.name, this.source));
			}
			return text.replace(this.original, this.replacement);
		}

	}

}
