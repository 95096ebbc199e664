package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.dblock.job.mongodb.JobStatements;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;
import org.mockito.Mockito;
import org.mockito.stubbing.OngoingStubbing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.ArgumentMatchers.longThat;

/**
 * Answers that a real server gives too rarely for a test.
 */
class PipelineStatementsTests {

	private static final AcquireRequest REQUEST = new AcquireRequest(new LeaseKey("stock", "me"),
			Duration.ofSeconds(30), "host", "main", "a test", Duration.ofSeconds(5));

	private final PipelineStatements statements = new PipelineStatements(new LeaseTimes(500, 86_400_000),
			new JobStatements());

	@SuppressWarnings("unchecked")
	private final MongoCollection<BsonDocument> collection = Mockito.mock(MongoCollection.class, Answers.RETURNS_SELF);

	private final MongoDatabase database = Mockito.mock(MongoDatabase.class, Answers.RETURNS_SELF);

	private StoreRequest store;

	@BeforeEach
	void openStore() {
		Mockito.when(this.database.getCollection("locks", BsonDocument.class)).thenReturn(this.collection);
		Mockito.when(this.database.getName()).thenReturn("test");
		this.store = new StoreRequest(this.database, new LockCollection("locks"), Duration.ofSeconds(5));
	}

	private OngoingStubbing<BsonDocument> answer() {
		return Mockito
			.when(this.database.runCommand(any(Bson.class), any(ReadPreference.class), eq(BsonDocument.class)));
	}

	private static BsonDocument answerWith(BsonValue document) {
		return new BsonDocument("value", document).append("ok", new BsonInt32(1));
	}

	private static MongoCommandException error(int code) {
		return new MongoCommandException(new BsonDocument("code", new BsonInt32(code)), new ServerAddress());
	}

	private static BsonDocument mine() {
		return new BsonDocument("_id", new BsonString("stock")).append("holder", new BsonString("me"))
			.append("token", new BsonInt64(2047))
			.append("leaseMillis", new BsonInt64(30_000))
			.append("acquiredAt", new BsonDateTime(0));
	}

	@Test
	void anUpsertThatAnotherOneForestalledIsAskedAgain() {
		answer().thenThrow(error(11000)).thenReturn(answerWith(mine()));
		assertThat(this.statements.acquire(this.store, REQUEST).answer()).isInstanceOfSatisfying(Granted.class,
				(granted) -> assertThat(List.of(granted.token(), granted.lastToken())).containsExactly(1024L, 2047L));
	}

	@Test
	void noOtherErrorIsAskedAgain() {
		answer().thenThrow(error(8)).thenReturn(answerWith(mine()));
		assertThatExceptionOfType(MongoCommandException.class)
			.isThrownBy(() -> this.statements.acquire(this.store, REQUEST));
	}

	@Test
	void anAnswerWithoutADocumentIsNeverAGrant() {
		answer().thenReturn(answerWith(BsonNull.VALUE));
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> this.statements.acquire(this.store, REQUEST));
	}

	@Test
	void aLimitOfYearsIsNoOverflowAndASpentOneIsNotForEver() {
		new StoreRequest(this.database, new LockCollection("locks"), Duration.ofDays(200_000)).collection();
		Mockito.verify(this.collection)
			.withTimeout(longThat(
					(millis) -> millis > Duration.ofDays(364).toMillis() && millis <= Duration.ofDays(365).toMillis()),
					eq(TimeUnit.MILLISECONDS));
		StoreRequest spent = new StoreRequest(this.database, new LockCollection("locks"), Duration.ZERO);
		spent.part(Duration.ofSeconds(1)).collection();
		Mockito.verify(this.collection).withTimeout(1, TimeUnit.MILLISECONDS);
		Mockito.verify(this.collection, Mockito.never()).withTimeout(eq(0L), any());
		assertThat(spent.isOver()).isTrue();
		Mockito.verify(this.collection, Mockito.times(2)).withTimeout(anyLong(), any());
	}

}
