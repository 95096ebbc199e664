package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoDatabase;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;
import org.mockito.Mockito;
import org.mockito.stubbing.Answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;

class HelloCommandTests {

	private final HelloCommand hello = new HelloCommand();

	private static StoreRequest store(Answer<BsonDocument> answer) {
		MongoDatabase database = Mockito.mock(MongoDatabase.class, Answers.RETURNS_SELF);
		Mockito.when(database.getName()).thenReturn("test");
		Mockito.when(database.runCommand(any(), any(ReadPreference.class), eq(BsonDocument.class))).thenAnswer(answer);
		return new StoreRequest(database, new LockCollection("locks"), Duration.ofSeconds(5));
	}

	private static MongoCommandException error(int code) {
		return new MongoCommandException(new BsonDocument("code", new BsonInt32(code)), new ServerAddress());
	}

	@Test
	void threadsThatLearnAtOnceThatTheNewNameIsUnknownAllUseTheOldOne() throws Exception {
		int threads = 4;
		CyclicBarrier allHaveAsked = new CyclicBarrier(threads);
		BsonDocument answer = new BsonDocument("ok", BsonBoolean.TRUE);
		Callable<BsonDocument> ask = () -> this.hello.say(store((call) -> {
			if (call.getArgument(0, BsonDocument.class).containsKey("hello")) {
				allHaveAsked.await(5, TimeUnit.SECONDS);
				throw error(59);
			}
			return answer;
		}));
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<BsonDocument>> answers = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				answers.add(executor.submit(ask));
			}
			for (Future<BsonDocument> each : answers) {
				assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo(answer);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void aServerThatSupportsNeitherNameIsAskedExactlyTwice() {
		List<String> asked = new ArrayList<>();
		assertThatExceptionOfType(MongoCommandException.class).isThrownBy(() -> this.hello.say(store((call) -> {
			asked.add(call.getArgument(0, BsonDocument.class).getFirstKey());
			throw error(59);
		})));
		assertThat(asked).containsExactly("hello", "isMaster");
	}

}
