package dev.dblock.autoconfigure;

import java.util.List;

/**
 * It cannot be told which database has the locks: there is no
 * {@code MongoDatabaseFactory} bean, or there are several and none of them is primary.
 */
final class MongoDatabaseFactoryChoiceException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient List<String> candidates;

	MongoDatabaseFactoryChoiceException(List<String> candidates, Throwable cause) {
		super(describe(candidates) + ". " + advise(candidates), cause);
		this.candidates = List.copyOf(candidates);
	}

	String description() {
		return describe(this.candidates);
	}

	String action() {
		return advise(this.candidates);
	}

	private static String describe(List<String> candidates) {
		return candidates.isEmpty()
				? "dblock keeps its locks in the application's MongoDB, but there is no MongoDatabaseFactory bean"
				: "dblock keeps its locks in one database, but there are several MongoDatabaseFactory beans "
						+ "and none of them is primary: " + String.join(", ", candidates);
	}

	private static String advise(List<String> candidates) {
		return candidates.isEmpty()
				? "Set spring.mongodb.uri (with Spring Boot 3 spring.data.mongodb.uri) and leave Spring Boot's MongoDB "
						+ "auto-configuration on, define a MongoDatabaseFactory or a LockRepository bean, or set "
						+ "dblock.mode=local for locks that hold inside this process only, or dblock.enabled=false to "
						+ "run without locks"
				: "Mark the one whose database is to have the locks as @Primary, or define a LockRepository bean: "
						+ "new MongoLockRepository(factory, settings)";
	}

}
