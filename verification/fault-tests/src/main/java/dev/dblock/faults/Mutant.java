package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.ToolProvider;

import dev.dblock.testing.LibrarySources;

/**
 * Deliberately broken dblock: one of its rules is removed from a source file, and the
 * workers run with the resulting class.
 *
 * @param name the name of the broken rule
 * @param source the source file
 * @param changes the replacements in the source file
 * @param expected the beginnings of the judge's rules, of which at least one must be
 * broken
 * @param trial the faults that make the broken rule visible
 */
record Mutant(String name, String source, List<Change> changes, List<String> expected, Trial trial) {

	private static final List<String> OVERLAPS = List.of("overlaps");

	/**
	 * A holder that enters too late overlaps with a successor, or enters after that
	 * successor has left.
	 */
	private static final List<String> OVERTAKEN = List.of("overlaps", "tokens that were not higher");

	private static final String STATEMENTS = "mongodb/request/PipelineStatements.java";

	static List<Mutant> all() {
		return List.of(
				new Mutant("skip the owner check", STATEMENTS,
						List.of(new Change("document.isHeldBy(request.key().holder())", "true")), OVERLAPS, Trial.CALM),
				new Mutant("believe past the deadline", "core/lease/LeaseDeadline.java",
						List.of(new Change("return remainingNanos(clock) <= 0;", "return false;")), OVERLAPS,
						Trial.STOPS),
				new Mutant("a client's clock for expiry", STATEMENTS,
						List.of(new Change("request, replacement(request), ENCODED", """
								request, BsonDocument.parse(replacement(request)
									.toJson(org.bson.json.JsonWriterSettings.builder()
										.outputMode(org.bson.json.JsonMode.EXTENDED).build())
									.replace("\\"$$NOW\\"", "{\\"$date\\": {\\"$numberLong\\": \\""
										+ System.currentTimeMillis() + "\\"}}")), ENCODED""")), OVERLAPS, Trial.CLOCK),
				new Mutant("release by name", "mongodb/request/CommonStatements.java",
						List.of(new Change("return updateUnrecorded(store, heldBy(lease), free);",
								"return updateUnrecorded(store, lock(lease.name()), free);")),
						OVERLAPS, Trial.STOPS),
				new Mutant("no fence", "transaction/OpenTransaction.java",
						List.of(new Change("this.leases.forEach(this::write);", "// No fence is written")),
						List.of("lost updates, in transactions", "numbers that more than one transaction"),
						Trial.WRITES),
				new Mutant("a late renewal that shortens", STATEMENTS,
						List.of(new Change("doc(\"$max\", EXPIRES_AT, until)", "until")), OVERLAPS, Trial.EXTENSIONS),
				new Mutant("a stored answer taken for a grant", "core/LockRequests.java", List.of(
						new Change("if (lease.isOver() || lease.isUnproven()) {", "if (false) {"),
						new Change("thread, why, left,", "thread, why, Duration.ofSeconds(30),"),
						new Change("Thread.currentThread(), deadline, this.clock)",
								"Thread.currentThread(), LeaseDeadline.from(this.clock, terms.lease()), this.clock)")),
						OVERTAKEN, Trial.STORED_ANSWERS),
				new Mutant("an expired lease revived", STATEMENTS,
						List.of(new Change(
								".append(LockDocument.ACQUIRED_AT, IS_DATE)\n"
										+ "\t\t\t.append(\"$expr\", NOT_EXPIRED.get(\"$expr\"))",
								".append(LockDocument.ACQUIRED_AT, IS_DATE)")),
						List.of("leases that had ended"), Trial.LATE_RENEWALS));
	}

	/**
	 * Put the broken class before all others on the class path.
	 * @param sources the folder of the sources
	 * @param folder the folder for the broken class
	 * @return the class path
	 */
	String classPath(Path sources, Path folder) throws IOException {
		String classPath = System.getProperty("java.class.path");
		Path broken = folder.resolve("broken").resolve(Path.of(this.source).getFileName());
		Files.createDirectories(broken.getParent());
		Files.writeString(broken, brokenSource(sources));
		List<String> arguments = new ArrayList<>(List.of("-parameters", "-nowarn", "-proc:none", "-cp", classPath, "-d",
				folder.resolve("classes").toString(), broken.toString()));
		int errors = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
		if (errors != 0) {
			throw new IllegalStateException("the mutant '" + this.name + "' cannot be compiled");
		}
		return folder.resolve("classes") + System.getProperty("path.separator") + classPath;
	}

	/**
	 * Return the source with the changes.
	 * @param sources the folder of the sources
	 * @return the changed text
	 * @throws IllegalStateException if the text to be replaced does not occur exactly
	 * once
	 */
	String brokenSource(Path sources) throws IOException {
		String text = LibrarySources.read(sources, this.source);
		for (Change change : this.changes) {
			int first = text.indexOf(change.original());
			if (first < 0 || text.indexOf(change.original(), first + 1) >= 0) {
				throw new IllegalStateException("the mutant '%s' does not fit %s any more: '%s' is not there once"
					.formatted(this.name, this.source, change.original()));
			}
			text = text.replace(change.original(), change.replacement());
		}
		return text;
	}

	/**
	 * Change of a source file.
	 *
	 * @param original the original text, which occurs exactly once
	 * @param replacement the new text
	 */
	record Change(String original, String replacement) {
	}

}
