package dev.dblock.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the database of the locks cannot be determined: there is no
 * {@code MongoDatabaseFactory} bean, or there are several and none of them is primary, or
 * none has the configured name.
 */
final class MongoDatabaseFactoryChoiceException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	private final String description;

	private final String action;

	MongoDatabaseFactoryChoiceException(List<String> candidates, Throwable cause) {
		this(describe(candidates), advise(candidates), cause);
	}

	private MongoDatabaseFactoryChoiceException(String description, String action, @Nullable Throwable cause) {
		super(description + ". " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * Create an exception for a name that no factory has.
	 * @param source the source of the name
	 * @param known the names of all factories
	 */
	static MongoDatabaseFactoryChoiceException ofUnknown(String source, List<String> known) {
		return new MongoDatabaseFactoryChoiceException(
				source + " is not the name of a MongoDatabaseFactory bean; "
						+ (known.isEmpty() ? "there are none" : "there are: " + String.join(", ", known)),
				"Use the name of one of them, or omit it to keep the locks in the default database", null);
	}

	String description() {
		return this.description;
	}

	String action() {
		return this.action;
	}

	private static String describe(List<String> candidates) {
		return candidates.isEmpty()
				? "dblock keeps its locks in the application's MongoDB, but there is no MongoDatabaseFactory bean"
				: "dblock keeps its locks in one database, but there are several MongoDatabaseFactory beans "
						+ "and none of them is primary: " + String.join(", ", candidates);
	}

	private static String advise(List<String> candidates) {
		return candidates.isEmpty()
				? "Set spring.mongodb.uri (with Spring Boot 3 spring.data.mongodb.uri) and leave Spring Boot's"
						+ " MongoDB auto-configuration on, define a MongoDatabaseFactory or a LockRepository bean, or"
						+ " set dblock.mode=local for locks that apply only inside this process, or"
						+ " dblock.enabled=false to run without locks"
				: "Name the one whose database keeps the locks (dblock.mongodb.database-factory), or mark it as"
						+ " @Primary, or define a LockRepository bean: new MongoLockRepository(factory, settings)";
	}

}
