package dev.dblock.mongodb.request;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoServerUnavailableException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoSocketWriteTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.WriteConcernError;
import dev.dblock.LockException;
import dev.dblock.store.BusyStoreException;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.store.StoreFailureException;
import dev.dblock.store.StoreLoginException;
import dev.dblock.store.StoreTimeoutException;
import dev.dblock.store.UnreachableStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.data.mongodb.UncategorizedMongoDbException;

/**
 * Translates failures to Spring's exceptions. The messages contain the lock, the
 * collection, and advice on what to do.
 */
public final class FailureTranslation {

	private static final String NO_SERVER = "Timed out while waiting for a server";

	private static final String NO_CONNECTION = "while waiting for a connection";

	static final String OTHER_COLLECTION = "Drop it, so that dblock creates a collection, or set"
			+ " dblock.mongodb.collection to another name";

	/**
	 * FailedToParse, TypeMismatch, CommandNotFound, CommandNotSupported,
	 * InvalidPipelineOperator, NotImplemented, an unknown variable, an unknown expression
	 * in a projection, an unknown stage.
	 */
	private static final Set<Integer> NOT_UNDERSTOOD = Set.of(9, 14, 59, 115, 168, 238, 17276, 31325, 40324);

	/** Not supported on Amazon DocumentDB; with another meaning on MongoDB. */
	private static final Set<Integer> NOT_SUPPORTED = Set.of(303, 304, 305);

	/** An answer without a code, which MongoDB does not give. */
	private static final int NO_CODE = -1;

	private static final int LOGIN_FAILED = 18;

	private static final Set<Integer> DENIED = Set.of(11, 13);

	/**
	 * The answer of Atlas to all that it refuses, such as beyond the space of a cluster.
	 */
	private static final int ATLAS_ERROR = 8000;

	private static final String ADVICE_ON_LOGIN = "Check the user, the password and the authSource";

	/** Labels by which the server or the driver marks a failure as transient. */
	private static final Set<String> PASSING = Set.of("RetryableWriteError", "RetryableError");

	/**
	 * Server errors after which another server, or another route to it, may accept the
	 * request at once, in addition to those for which the driver has a class or one of
	 * the labels: HostUnreachable, HostNotFound, ShardNotFound (the router has a shard in
	 * its metadata that was removed), NetworkTimeout, FailedToSatisfyReadPreference (the
	 * router finds no primary of the shard), NetworkInterfaceExceededTimeLimit,
	 * ExceededTimeLimit, ConnectionError (between servers), SocketException. The others
	 * are those of a server that is no longer the primary or shuts down; the driver has
	 * classes for them, but not if they are reported for a single write:
	 * ShutdownInProgress, PrimarySteppedDown, NotWritablePrimary, InterruptedAtShutdown,
	 * InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
	 */
	private static final Set<Integer> ANOTHER_SERVER = Set.of(6, 7, 70, 89, 91, 133, 189, 202, 262, 384, 9001, 10107,
			11600, 11602, 13435, 13436);

	/**
	 * Server errors after which another attempt may succeed a little later: LockTimeout
	 * (of the server's own locks), LockBusy (a change of the cluster's metadata),
	 * NoProgressMade (the router could not reach a shard), WriteConflict,
	 * TemporarilyUnavailable (the storage engine is short of cache), Interrupted (this
	 * one operation was killed).
	 */
	private static final Set<Integer> PATIENCE = Set.of(24, 46, 82, 112, 365, 11601);

	private static final int WRITE_CONCERN_TIMEOUT = 64;

	private static final int DOCUMENT_VALIDATION = 121;

	private static final int NOT_ON_A_VIEW = 166;

	private static final int CANNOT_CREATE_INDEX = 67;

	/** Such a document cannot change its size, before MongoDB 6.0. */
	private static final int CAPPED_DOCUMENT = 10003;

	private static final Pattern DUPLICATE_IN_INDEX = Pattern.compile(" index: (\\S+)");

	private static final String ID_INDEX = "_id_";

	private static final Pattern COMMAND = Pattern.compile("(command \\{ \\w+: [^,}]+),.*", Pattern.DOTALL);

	private static final Pattern RESPONSE = Pattern.compile("\\.? The full response is .*", Pattern.DOTALL);

	private static final int LONGEST_SUMMARY = 300;

	private final String collection;

	FailureTranslation(String collection) {
		this.collection = collection;
	}

	/**
	 * Translate an exception of the driver or of Spring's template.
	 * @param action the attempted action, such as "acquire the lock 'stock'"
	 * @param limit the time limit of the action
	 * @param begun whether a part of it was sent before
	 * @param thrown the exception
	 * @return the exception to throw instead
	 */
	RuntimeException translate(String action, TimeLimit limit, boolean begun, RuntimeException thrown) {
		if (thrown instanceof LockException) {
			return thrown;
		}
		MongoException cause = mongoCause(thrown);
		if (cause instanceof MongoInterruptedException) {
			Thread.currentThread().interrupt();
			return new RepositoryInterruptedException(thrown);
		}
		if (cause == null) {
			return translateOther(action, begun, thrown);
		}
		if (isNoServer(cause)) {
			return unreachable(action, begun, "no writable server was found in time",
					"Check that MongoDB can be reached from here and that its replica set has a primary", cause);
		}
		if (isNoConnection(cause)) {
			return new StoreTimeoutException(text(action, "no connection was free in time",
					"It may or may not have been done. All connections of the client are in use, or MongoDB accepts new"
							+ " ones too slowly: check its load, raise maxPoolSize, or give the locks a client of their"
							+ " own"),
					cause);
		}
		if (isTimeout(cause)) {
			return new StoreTimeoutException(text(action, "the time limit of %s ran out".formatted(limit.readable()),
					"It may or may not have been done. Check the load of MongoDB and that a majority of its replica"
							+ " set is up" + limit.remedy()),
					cause);
		}
		// Before the check for failed authentication: a connection that breaks during the
		// login was not refused
		if (isDisturbed(cause)) {
			return new StoreFailureException(text(action, "MongoDB could not confirm it",
					"It may or may not have been done; try again under a new id once a primary and a majority of the"
							+ " replica set are up"),
					cause);
		}
		if (isLogin(cause)) {
			return new StoreLoginException(
					text(action, "the login failed (%s)".formatted(summary(cause)), ADVICE_ON_LOGIN), cause);
		}
		if (isDenied(cause)) {
			return new PermissionDeniedDataAccessException(
					text(action, "MongoDB denied it (%s)".formatted(summary(cause)),
							"The user needs the find, insert and update privileges on that collection"),
					cause);
		}
		if (PATIENCE.contains(refusal(cause).getCode())) {
			return new BusyStoreException(
					text(action, "MongoDB could not do it at the moment (%s)".formatted(summary(cause)),
							"It may or may not have been done; try again under a new id"),
					cause);
		}
		InvalidDataAccessResourceUsageException unsuitable = unsuitable(action, cause);
		return (unsuitable != null) ? unsuitable
				: new UncategorizedMongoDbException(text(action, "MongoDB refused it (%s)".formatted(summary(cause)),
						saysNotUnderstood(cause)
								? "It does not know the statement: set dblock.mongodb.statements to classic"
								: "Fix what MongoDB reports"),
						cause);
	}

	/**
	 * Return an exception that names the property of the collection because of which the
	 * server refused a request; {@code null} if it refused it for another reason.
	 */
	private @Nullable InvalidDataAccessResourceUsageException unsuitable(String action, MongoException cause) {
		String index = uniqueIndex(cause);
		if (index != null) {
			return unsuitable(action, "the collection has the unique index '%s'".formatted(index), "Drop that index",
					cause);
		}
		if (isCapped(cause)) {
			return unsuitable(action, "the collection is capped, so that MongoDB removes documents of held locks",
					OTHER_COLLECTION, cause);
		}
		return switch (refusal(cause).getCode()) {
			case DOCUMENT_VALIDATION -> unsuitable(action, "a validator of the collection does not accept the document",
					"Remove the validator, or let it accept the documents of locks", cause);
			case NOT_ON_A_VIEW ->
				unsuitable(action, "that is a view or a time series collection", OTHER_COLLECTION, cause);
			default -> null;
		};
	}

	private InvalidDataAccessResourceUsageException unsuitable(String action, String reason, String advice,
			MongoException cause) {
		return new InvalidDataAccessResourceUsageException(
				text(action, "%s (%s)".formatted(reason, summary(cause)), advice), cause);
	}

	/**
	 * Return whether a failure shows that the collection is capped.
	 */
	public static boolean isCapped(MongoException cause) {
		return cause.getCode() == CAPPED_DOCUMENT
				|| cause.getCode() == CANNOT_CREATE_INDEX && String.valueOf(cause.getMessage()).contains(" capped ");
	}

	/**
	 * Return the unique index, other than that of the {@code _id}, of which a duplicate
	 * key is reported.
	 * @return its name; {@code null} for any other failure
	 */
	static @Nullable String uniqueIndex(MongoException cause) {
		String text = String.valueOf(refusal(cause).getMessage());
		Matcher index = DUPLICATE_IN_INDEX.matcher(text);
		return (ErrorCategory.fromErrorCode(refusal(cause).getCode()) == ErrorCategory.DUPLICATE_KEY && index.find()
				&& !index.group(1).endsWith(ID_INDEX)) ? index.group(1) : null;
	}

	// A bulk write has no code of its own
	private static MongoException refusal(MongoException cause) {
		if (cause instanceof MongoBulkWriteException bulk && !bulk.getWriteErrors().isEmpty()) {
			BulkWriteError first = bulk.getWriteErrors().get(0);
			return new MongoException(first.getCode(), first.getMessage());
		}
		return cause;
	}

	/**
	 * Return whether a server reports that it does not support a statement.
	 */
	static boolean saysNotUnderstood(MongoException ex) {
		return NOT_UNDERSTOOD.contains(ex.getCode())
				|| NOT_SUPPORTED.contains(ex.getCode()) && String.valueOf(ex.getMessage()).contains("not supported")
				|| ex instanceof MongoCommandException && ex.getCode() == NO_CODE;
	}

	/**
	 * Return whether another attempt may succeed where this one failed.
	 */
	static boolean isPassing(MongoException cause) {
		return PATIENCE.contains(refusal(cause).getCode()) || isDisturbed(cause);
	}

	private RuntimeException unreachable(String action, boolean begun, String reason, String advice,
			RuntimeException cause) {
		return begun
				? new StoreFailureException(text(action, reason, "It may or may not have been done. " + advice), cause)
				: new UnreachableStoreException(text(action, reason, "Nothing was sent. " + advice), cause);
	}

	private RuntimeException translateOther(String action, boolean begun, RuntimeException thrown) {
		if (isClosed(thrown) || isClosed(thrown.getCause())) {
			return unreachable(action, begun, "the MongoDB client is closed", "Lock only while the application runs",
					thrown);
		}
		if (thrown instanceof DataAccessException) {
			return thrown;
		}
		return new UncategorizedMongoDbException(
				text(action, "it failed with " + thrown, "It may or may not have been done; check the cause"), thrown);
	}

	// The message of the driver's own check for a closed client, session or pool.
	private static boolean isClosed(@Nullable Throwable thrown) {
		String message = (thrown instanceof IllegalStateException) ? thrown.getMessage() : null;
		return message != null && message.startsWith("state should be: ") && message.endsWith("open");
	}

	private String text(String action, String reason, String advice) {
		return "Could not %s in the collection '%s': %s. %s".formatted(action, this.collection, reason, advice);
	}

	/**
	 * Return the server's report: code, name and message. The driver's own message also
	 * contains the whole response, and some messages of the server the whole command.
	 */
	public static String summary(MongoException thrown) {
		MongoException cause = (thrown.getCause() instanceof MongoException inner) ? inner : thrown;
		String text = (cause instanceof MongoCommandException refused)
				? "%s: %s".formatted(describeCode(refused), refused.getErrorMessage())
				: RESPONSE.matcher(messageOf(cause)).replaceFirst("");
		String withoutCommand = COMMAND.matcher(text).replaceFirst("$1, ...");
		return (withoutCommand.length() <= LONGEST_SUMMARY) ? withoutCommand
				: withoutCommand.substring(0, LONGEST_SUMMARY) + "...";
	}

	/**
	 * Return the message of a failure, or its type if it has none.
	 */
	public static String messageOf(Throwable thrown) {
		String message = thrown.getMessage();
		return (message != null) ? message : thrown.getClass().getSimpleName();
	}

	// Servers other than MongoDB's may answer without a code
	private static String describeCode(MongoCommandException refused) {
		return (refused.getErrorCode() >= 0) ? (refused.getErrorCode() + " " + refused.getErrorCodeName()).strip()
				: "an error without a code";
	}

	public static @Nullable MongoException mongoCause(Throwable thrown) {
		Throwable cause = thrown;
		while (cause != null && !(cause instanceof MongoException)) {
			cause = cause.getCause();
		}
		return (MongoException) cause;
	}

	private static boolean isNoServer(MongoException cause) {
		String message = cause.getMessage();
		return cause instanceof MongoTimeoutException && message != null && message.startsWith(NO_SERVER);
	}

	private static boolean isNoConnection(MongoException cause) {
		return cause instanceof MongoTimeoutException && messageOf(cause).contains(NO_CONNECTION);
	}

	/**
	 * Return advice on an index that could not be created, as the first of several
	 * alternatives.
	 */
	public static String adviceOnIndex(MongoException cause) {
		return advice(cause, "Grant the createIndex privilege");
	}

	/**
	 * Return advice on a collection that could not be created.
	 */
	public static String adviceOnCollection(MongoException cause) {
		return advice(cause, "Grant the find, insert, update and createIndex privileges there");
	}

	private static String advice(MongoException cause, String whenDenied) {
		if (isLogin(cause)) {
			return ADVICE_ON_LOGIN;
		}
		if (isDenied(cause)) {
			return whenDenied;
		}
		return (isTimeout(cause) || isNoServer(cause))
				? "Check the load of MongoDB and that a majority of its replica set is up" : "Fix what MongoDB reports";
	}

	private static boolean isLogin(MongoException cause) {
		return cause instanceof MongoSecurityException || cause.getCode() == LOGIN_FAILED;
	}

	/**
	 * Whether the user lacks a privilege.
	 */
	public static boolean isDenied(MongoException cause) {
		return DENIED.contains(cause.getCode()) || cause.getCode() == ATLAS_ERROR && isNotAllowed(messageOf(cause));
	}

	private static boolean isNotAllowed(String message) {
		return message.contains("not allowed") || message.contains("not authorized");
	}

	private static boolean isTimeout(MongoException cause) {
		return cause instanceof MongoTimeoutException || cause instanceof MongoExecutionTimeoutException
				|| cause instanceof MongoSocketReadTimeoutException || cause instanceof MongoSocketWriteTimeoutException
				// A router reports the time limit of a shard as the error of a single
				// write
				|| ErrorCategory.fromErrorCode(refusal(cause).getCode()) == ErrorCategory.EXECUTION_TIMEOUT
				|| isUnconfirmed(cause) && unconfirmedCode(cause) == WRITE_CONCERN_TIMEOUT;
	}

	private static boolean isUnconfirmed(MongoException cause) {
		return cause instanceof MongoWriteConcernException || cause instanceof UnconfirmedWriteException
				|| unconfirmedBulk(cause) != null;
	}

	private static int unconfirmedCode(MongoException cause) {
		WriteConcernError bulk = unconfirmedBulk(cause);
		return (bulk != null) ? bulk.getCode() : cause.getCode();
	}

	// A bulk write throws another exception, without a code. A duplicate key from two
	// concurrent upserts of the same document is transient as well, so it is not a
	// refusal
	private static @Nullable WriteConcernError unconfirmedBulk(MongoException cause) {
		return (cause instanceof MongoBulkWriteException bulk && isDuplicateAtMost(bulk)) ? bulk.getWriteConcernError()
				: null;
	}

	/**
	 * Return whether all errors of a bulk write are duplicate keys.
	 */
	public static boolean isDuplicateAtMost(MongoBulkWriteException ex) {
		return ex.getWriteErrors().stream().allMatch((error) -> error.getCategory() == ErrorCategory.DUPLICATE_KEY);
	}

	// A primary that steps down after the write reports it in the write concern error.
	// The driver wraps that error if the retry finds no other primary.
	private static boolean isDisturbed(MongoException cause) {
		return cause instanceof MongoSocketException || cause instanceof MongoNotPrimaryException
				|| cause instanceof MongoNodeIsRecoveringException || isUnconfirmed(cause)
				|| cause instanceof MongoConnectionPoolClearedException
				|| cause instanceof MongoServerUnavailableException || ANOTHER_SERVER.contains(refusal(cause).getCode())
				|| PASSING.stream().anyMatch(cause::hasErrorLabel)
				|| cause.getCause() instanceof MongoException inner && isDisturbed(inner);
	}

}
