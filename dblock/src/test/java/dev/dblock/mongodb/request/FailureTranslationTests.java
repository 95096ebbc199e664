package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoServerUnavailableException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.MongoSocketWriteTimeoutException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.MongoWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.WriteConcernResult;
import com.mongodb.WriteError;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.WriteConcernError;
import com.mongodb.connection.ClusterId;
import com.mongodb.connection.ServerId;
import dev.dblock.ForeignDocumentException;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.store.StoreFailureException;
import dev.dblock.store.StoreLoginException;
import dev.dblock.store.UnreachableStoreException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.data.mongodb.UncategorizedMongoDbException;

import static org.assertj.core.api.Assertions.assertThat;

class FailureTranslationTests {

	private static final ServerAddress SERVER = new ServerAddress();

	private static final TimeLimit LIMIT = TimeLimit.fixed(Duration.ofSeconds(1));

	private final FailureTranslation failures = new FailureTranslation("locks");

	static Stream<Arguments> failures() {
		return Stream.of(Arguments.of(new MongoOperationTimeoutException("late"), QueryTimeoutException.class),
				Arguments.of(new MongoTimeoutException("pool"), QueryTimeoutException.class),
				Arguments.of(new MongoExecutionTimeoutException(50, "maxTimeMS"), QueryTimeoutException.class),
				Arguments.of(new MongoSocketReadTimeoutException("read", SERVER, new Exception()),
						QueryTimeoutException.class),
				Arguments.of(new MongoSocketWriteTimeoutException("write", SERVER, new Exception()),
						QueryTimeoutException.class),
				Arguments.of(writeConcern(64), QueryTimeoutException.class),
				Arguments.of(writeConcern(100), DataAccessResourceFailureException.class),
				Arguments.of(new MongoTimeoutException("Timed out while waiting for a server that matches x"),
						DataAccessResourceFailureException.class),
				Arguments.of(new MongoOperationTimeoutException("Timed out while waiting for a server that matches x"),
						DataAccessResourceFailureException.class),
				Arguments.of(new MongoSocketException("closed", SERVER), DataAccessResourceFailureException.class),
				Arguments.of(new MongoNotPrimaryException(new BsonDocument(), SERVER),
						DataAccessResourceFailureException.class),
				Arguments.of(new MongoNodeIsRecoveringException(new BsonDocument(), SERVER),
						DataAccessResourceFailureException.class),
				Arguments.of(wrapped(new MongoNodeIsRecoveringException(new BsonDocument(), SERVER)),
						DataAccessResourceFailureException.class),
				Arguments.of(wrapped(command(2)), UncategorizedMongoDbException.class),
				Arguments.of(new IllegalStateException("state should be: open"),
						DataAccessResourceFailureException.class),
				Arguments.of(new MongoConnectionPoolClearedException(new ServerId(new ClusterId(), SERVER), null),
						DataAccessResourceFailureException.class),
				Arguments.of(new MongoServerUnavailableException("gone"), DataAccessResourceFailureException.class),
				Arguments.of(labelled("RetryableWriteError"), DataAccessResourceFailureException.class),
				Arguments.of(labelled("RetryableError"), DataAccessResourceFailureException.class),
				Arguments.of(wrapped(labelled("RetryableWriteError")), DataAccessResourceFailureException.class),
				Arguments.of(labelled("NoWritesPerformed"), UncategorizedMongoDbException.class),
				Arguments.of(command(6), DataAccessResourceFailureException.class),
				Arguments.of(command(9001), DataAccessResourceFailureException.class),
				Arguments.of(command(133), DataAccessResourceFailureException.class),
				Arguments.of(command(112), TransientDataAccessResourceException.class),
				Arguments.of(command(121), InvalidDataAccessResourceUsageException.class),
				Arguments.of(unconfirmed(64), QueryTimeoutException.class),
				Arguments.of(unconfirmed(100), DataAccessResourceFailureException.class),
				Arguments.of(bulk(unmet(64)), QueryTimeoutException.class),
				Arguments.of(bulk(unmet(100)), DataAccessResourceFailureException.class),
				Arguments.of(bulk(unmet(64), 11000), QueryTimeoutException.class),
				Arguments.of(bulk(unmet(64), 121), InvalidDataAccessResourceUsageException.class),
				Arguments.of(bulk(null, 121), InvalidDataAccessResourceUsageException.class),
				Arguments.of(bulk(null, 189), DataAccessResourceFailureException.class),
				Arguments.of(bulk(null, 112), TransientDataAccessResourceException.class),
				Arguments.of(write(50), QueryTimeoutException.class),
				Arguments.of(bulk(null, 50, 50), QueryTimeoutException.class),
				Arguments.of(write(82), TransientDataAccessResourceException.class),
				Arguments.of(write(189), DataAccessResourceFailureException.class),
				Arguments.of(write(10107), DataAccessResourceFailureException.class),
				Arguments.of(write(11602), DataAccessResourceFailureException.class),
				Arguments.of(write(91), DataAccessResourceFailureException.class),
				Arguments.of(write(112), TransientDataAccessResourceException.class),
				Arguments.of(new IllegalStateException("state should be: server session pool is open"),
						DataAccessResourceFailureException.class),
				Arguments.of(new IllegalStateException("something else"), UncategorizedMongoDbException.class),
				Arguments.of(new IllegalStateException(), UncategorizedMongoDbException.class),
				Arguments.of(new MongoSecurityException(null, "login"), PermissionDeniedDataAccessException.class),
				Arguments.of(new MongoSecurityException(null, "login", new MongoSocketException("closed", SERVER)),
						DataAccessResourceFailureException.class),
				Arguments.of(command(13), PermissionDeniedDataAccessException.class),
				Arguments.of(command(18), PermissionDeniedDataAccessException.class),
				Arguments.of(command(2), UncategorizedMongoDbException.class),
				Arguments.of(new MongoTimeoutException(null), QueryTimeoutException.class),
				Arguments.of(new MongoClientException("odd"), UncategorizedMongoDbException.class),
				Arguments.of(new IllegalArgumentException("odd"), UncategorizedMongoDbException.class));
	}

	private static MongoException writeConcern(int code) {
		return new MongoWriteConcernException(unmet(code), WriteConcernResult.unacknowledged(), SERVER, Set.of());
	}

	private static WriteConcernError unmet(int code) {
		return new WriteConcernError(code, "name", "text", new BsonDocument());
	}

	private static MongoException bulk(@Nullable WriteConcernError unmet, int... codes) {
		List<BulkWriteError> errors = IntStream.range(0, codes.length)
			.mapToObj((i) -> new BulkWriteError(codes[i], "text", new BsonDocument(), i))
			.toList();
		return new MongoBulkWriteException(BulkWriteResult.unacknowledged(), errors, unmet, SERVER, Set.of());
	}

	private static MongoException write(int code) {
		return new MongoWriteException(new WriteError(code, "text", new BsonDocument()), SERVER, Set.of());
	}

	/**
	 * As the driver leaves the write concern error of a primary that steps down.
	 */
	private static MongoException wrapped(MongoException cause) {
		return new MongoException(cause.getCode(), "wrapped", cause);
	}

	private static MongoException labelled(String label) {
		MongoException exception = command(2);
		exception.addLabel(label);
		return exception;
	}

	private static MongoException unconfirmed(int code) {
		return new UnconfirmedWriteException(
				BsonDocument.parse("{ok: 1, writeConcernError: {code: %d, errmsg: 'text'}}".formatted(code)));
	}

	private static MongoException command(int code) {
		return new MongoCommandException(new BsonDocument("code", new BsonInt32(code)), SERVER);
	}

	@ParameterizedTest
	@MethodSource("failures")
	void translatesToSpringsExceptionsWithLockAndServer(RuntimeException thrown, Class<?> expected) {
		RuntimeException translated = this.failures.translate("acquire the lock 'stock'", LIMIT, false, thrown);
		assertThat(translated).isInstanceOf(expected)
			.hasMessageStartingWith("Could not acquire the lock 'stock' in the collection 'locks': ")
			.hasCause(thrown);
	}

	@Test
	void aTimeLimitIsReportedWithItsLength() {
		assertThat(late(Duration.ofSeconds(10), Duration.ofSeconds(10))).hasMessage(
				"Could not acquire the lock 'stock' in the collection 'locks': the time limit of 10 s ran out. It may"
						+ " or may not have been done. Check the load of MongoDB and that a majority of its replica"
						+ " set is up, or allow more time (dblock.mongodb.timeout; no request takes longer than the"
						+ " lease)");
	}

	@Test
	void aDerivedTimeLimitIsNotReportedAsTheConfiguredOne() {
		assertThat(late(Duration.ofMillis(1250), Duration.ofSeconds(10)))
			.hasMessageContaining("the time limit of 1.25 s ran out. It may or may not have been done.")
			.hasMessageEndingWith("is up. That limit was this request's share of the time that"
					+ " dblock.mongodb.timeout, the wait and the lease allow");
		assertThat(late(Duration.ofSeconds(30), Duration.ofSeconds(10)))
			.hasMessageContaining("the time limit of 30 s ran out")
			.hasMessageNotContaining("allow more time");
	}

	@Test
	void aTimeLimitWithoutASettingIsReportedAsOne() {
		assertThat(this.failures.translate("read the clock", LIMIT, false, new MongoOperationTimeoutException("late")))
			.hasMessageContaining("the time limit of 1 s ran out")
			.hasMessageEndingWith("is up. That limit cannot be configured");
	}

	private RuntimeException late(Duration limit, Duration configured) {
		return this.failures.translate("acquire the lock 'stock'", TimeLimit.of(limit, configured), false,
				new MongoOperationTimeoutException("late"));
	}

	@Test
	void anExhaustedPoolIsReportedAsOne() {
		assertThat(this.failures.translate("acquire the lock 'stock'", LIMIT, false,
				new MongoTimeoutException("Timed out after 1000 ms while waiting for a connection to server x.")))
			.isInstanceOf(QueryTimeoutException.class)
			.hasMessage(
					"Could not acquire the lock 'stock' in the collection 'locks': no connection was free in time. It"
							+ " may or may not have been done. All connections of the client are in use, or MongoDB accepts new"
							+ " ones too slowly: check its load, raise maxPoolSize, or give the locks a client of their own");
	}

	@ParameterizedTest
	@CsvSource({ "user is not allowed to do action [insert] on [app.locks], true",
			"not authorized on app to execute command, true",
			"'you are over your space quota, using 513 MB of 512 MB', false" })
	void atlasIsOnlyReportedToDenyWhatItDoesNotAllow(String message, boolean denied) {
		MongoException refused = answered(
				"{ok: 0, code: 8000, codeName: 'AtlasError', errmsg: '%s'}".formatted(message));
		RuntimeException translated = this.failures.translate("x", LIMIT, false, refused);
		assertThat(translated).hasMessageContaining(message);
		assertThat(translated instanceof PermissionDeniedDataAccessException).isEqualTo(denied);
		assertThat(FailureTranslation.adviceOnIndex(refused).contains("privilege")).isEqualTo(denied);
	}

	@ParameterizedTest
	@MethodSource("failedLogins")
	void aFailedLoginIsNotTakenForAMissingRight(MongoException thrown) {
		assertThat(this.failures.translate("acquire the lock 'stock'", LIMIT, false, thrown))
			.isInstanceOf(StoreLoginException.class)
			.hasMessage("Could not acquire the lock 'stock' in the collection 'locks': the login failed (18 "
					+ "AuthenticationFailed: Authentication failed.). Check the user, the password and the authSource");
	}

	static Stream<MongoException> failedLogins() {
		MongoException refused = answered(
				"{ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.'}");
		return Stream.of(refused, new MongoSecurityException(null, "Exception authenticating", refused));
	}

	private static MongoException answered(String response) {
		return new MongoCommandException(BsonDocument.parse(response), SERVER);
	}

	@Test
	void aMissingRightIsReportedWithoutTheCommandAndTheResponse() {
		MongoException denied = answered("""
				{ok: 0, errmsg: 'not authorized on test to execute command { createIndexes: \\"locks\\", indexes: [ {\
				 key: { cleanUpAt: 1 } } ], lsid: { id: UUID(\\"3f\\") }, $clusterTime: { clusterTime: 1 } }',
				 code: 13, codeName: 'Unauthorized', $clusterTime: {clusterTime: 1}}""");
		assertThat(denied).hasMessageContaining("The full response is");
		assertThat(this.failures.translate("create the index", LIMIT, false, denied))
			.hasMessage("Could not create the index in the collection 'locks': MongoDB denied it (13 Unauthorized:"
					+ " not authorized on test to execute command { createIndexes: \"locks\", ...). The user needs the"
					+ " find, insert and update privileges on that collection");
	}

	@Test
	void aLongMessageOfTheServerIsCut() {
		assertThat(FailureTranslation.summary(answered("{ok: 0, code: 9, errmsg: '%s'}".formatted("x".repeat(2000)))))
			.hasSize(303)
			.startsWith("9: xxx")
			.endsWith("xxx...");
		assertThat(FailureTranslation.summary(new MongoNotPrimaryException(
				BsonDocument.parse("{code: 10107, codeName: 'NotWritablePrimary', errmsg: 'not primary'}"), SERVER)))
			.contains("10107", "NotWritablePrimary", "not primary")
			.doesNotContain("response");
	}

	@Test
	void theAdviceOnAnIndexFitsTheFailure() {
		assertThat(FailureTranslation.adviceOnIndex(command(13))).isEqualTo("Grant the createIndex privilege");
		assertThat(FailureTranslation.adviceOnIndex(new MongoSecurityException(null, "login")))
			.isEqualTo("Check the user, the password and the authSource");
		assertThat(FailureTranslation.adviceOnIndex(new MongoOperationTimeoutException("late")))
			.isEqualTo("Check the load of MongoDB and that a majority of its replica set is up");
		assertThat(FailureTranslation
			.adviceOnIndex(new MongoTimeoutException("Timed out while waiting for a server that matches x")))
			.startsWith("Check the load");
		assertThat(FailureTranslation.adviceOnIndex(command(85))).isEqualTo("Fix what MongoDB reports");
	}

	@ParameterizedTest
	@MethodSource("unreachable")
	void onlyARequestThatWasNotStartedIsReportedAsNotApplied(RuntimeException thrown) {
		assertThat(this.failures.translate("x", LIMIT, false, thrown)).isInstanceOf(UnreachableStoreException.class)
			.hasMessageMatching("Could not x in the collection 'locks': [^.]+\\. Nothing was sent\\. \\w[^.;]+");
		assertThat(this.failures.translate("x", LIMIT, true, thrown)).isExactlyInstanceOf(StoreFailureException.class)
			.hasMessageMatching(
					"Could not x in the collection 'locks': [^.]+\\. It may or may not have been done\\. \\w[^.;]+");
	}

	static Stream<RuntimeException> unreachable() {
		return Stream.of(new MongoTimeoutException("Timed out while waiting for a server that matches x"),
				new IllegalStateException("state should be: open"));
	}

	@Test
	void aReportWithoutACodeOrWithoutAMessageIsReadable() {
		assertThat(FailureTranslation.summary(answered("{ok: 0, errmsg: 'Unknown error: null'}")))
			.isEqualTo("an error without a code: Unknown error: null");
		assertThat(FailureTranslation.summary(new MongoException((String) null))).isEqualTo("MongoException");
	}

	@Test
	void unwrapsExceptionsOfSpringsTemplate() {
		MongoException cause = new MongoOperationTimeoutException("late");
		assertThat(
				this.failures.translate("x", LIMIT, false, new DataAccessResourceFailureException("spring's", cause)))
			.isInstanceOf(QueryTimeoutException.class)
			.hasCause(cause);
	}

	@Test
	void anUnknownErrorIsInDoubt() {
		assertThat(
				this.failures.translate("acquire the lock 'stock'", LIMIT, false, new IllegalArgumentException("odd")))
			.hasMessage("Could not acquire the lock 'stock' in the collection 'locks': it failed with"
					+ " java.lang.IllegalArgumentException: odd. It may or may not have been done; check the cause");
	}

	@Test
	void onlyTheIllegalStateOfAClosedClientIsReportedAsOne() {
		DataAccessException wrapped = new InvalidDataAccessApiUsageException("spring's",
				new IllegalStateException("state should be: open"));
		assertThat(this.failures.translate("x", LIMIT, false, wrapped))
			.hasMessageContaining("the MongoDB client is closed");
		DataAccessException other = new InvalidDataAccessApiUsageException("spring's",
				new IllegalStateException("something else"));
		assertThat(this.failures.translate("x", LIMIT, false, other)).isSameAs(other);
	}

	@Test
	void anInterruptIsKept() {
		try {
			assertThat(this.failures.translate("x", LIMIT, false, new MongoInterruptedException("interrupted", null)))
				.isInstanceOf(RepositoryInterruptedException.class);
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
	}

	@Test
	void exceptionsOfTheLibraryPassUnchanged() {
		RuntimeException foreign = new ForeignDocumentException("stock", "locks");
		assertThat(this.failures.translate("x", LIMIT, false, foreign)).isSameAs(foreign);
		DataAccessException other = new TransientDataAccessResourceException("again");
		assertThat(this.failures.translate("x", LIMIT, false, other)).isSameAs(other);
	}

}
