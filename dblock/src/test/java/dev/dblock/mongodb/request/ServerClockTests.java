package dev.dblock.mongodb.request;

import java.time.Duration;

import dev.dblock.mongodb.request.ServerClock.Reading;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@OnEachServer
@MongoServerTest
class ServerClockTests {

	private static final long MILLI = 1_000_000;

	private long nanoTime = Long.MAX_VALUE - 5 * MILLI;

	private long wallTime = 77_000;

	private long serverTime = 1_000_000;

	private long onTheWay;

	private Object topology = "a";

	private int asked;

	private StoreRequest store;

	private final ServerClock clock = new ServerClock(() -> this.nanoTime, () -> this.wallTime, () -> this.topology,
			(store) -> hello());

	@BeforeEach
	void openStore(MongoServer server) {
		this.store = new StoreRequest(server.client().getDatabase(server.freshDatabase()), new LockCollection("locks"),
				Duration.ofSeconds(60));
	}

	private BsonDocument hello() {
		this.asked++;
		pass(this.onTheWay);
		BsonDocument hello = new BsonDocument("localTime", new BsonDateTime(this.serverTime));
		pass(this.onTheWay);
		return hello;
	}

	private void pass(long millis) {
		this.nanoTime += millis * MILLI;
		this.wallTime += millis;
		this.serverTime += millis;
	}

	@Test
	void theServersTimeLiesBetweenTheBounds() {
		this.onTheWay = 40;
		Reading reading = this.clock.read(this.store);
		assertThat(this.serverTime).isBetween(reading.notBefore(), reading.notAfter());
		assertThat(reading.notAfter() - reading.notBefore()).isBetween(80L, 84L);
	}

	@Test
	void theBoundsDivergeExactlyByTheDrift() {
		this.clock.read(this.store);
		pass(50_000);
		Reading reading = this.clock.read(this.store);
		assertThat(this.asked).isEqualTo(1);
		assertThat(reading.notBefore()).isEqualTo(this.serverTime - 50);
		assertThat(reading.notAfter()).isBetween(this.serverTime + 50, this.serverTime + 54);
	}

	@Test
	void aSampleLivesAMinute() {
		this.clock.read(this.store);
		pass(59_999);
		this.clock.read(this.store);
		assertThat(this.asked).isEqualTo(1);
		pass(2);
		Reading reading = this.clock.read(this.store);
		assertThat(this.asked).isEqualTo(2);
		assertThat(reading.notBefore()).isEqualTo(this.serverTime);
	}

	@Test
	void aSampleBelongsToOneTopology() {
		this.clock.read(this.store);
		this.topology = "b";
		this.clock.read(this.store);
		this.clock.read(this.store);
		assertThat(this.asked).isEqualTo(2);
	}

	@Test
	void aSampleIsDroppedAfterAFailure() {
		this.clock.read(this.store);
		this.clock.forget();
		this.clock.read(this.store);
		assertThat(this.asked).isEqualTo(2);
	}

	@Test
	void aSampleIsDroppedWhenTheMachineWasSuspended() {
		this.clock.read(this.store);
		this.wallTime += 3_600_000;
		this.serverTime += 3_600_000;
		assertThat(this.clock.read(this.store).notBefore()).isEqualTo(this.serverTime);
		this.wallTime -= 200;
		this.clock.read(this.store);
		assertThat(this.asked).isEqualTo(3);
	}

	@Test
	void aReadingIsConfirmedHoweverLongTheWriteTook() {
		Reading reading = this.clock.read(this.store);
		pass(45_000);
		assertThat(this.clock.confirms(this.store, reading)).isTrue();
	}

	@Test
	void aReadingIsNotConfirmedWhereBothClocksHereStoodStill() {
		Reading reading = this.clock.read(this.store);
		pass(1_000);
		this.serverTime += 200;
		assertThat(this.clock.confirms(this.store, reading)).isFalse();
		Reading next = this.clock.read(this.store);
		assertThat(next.notBefore()).isEqualTo(this.serverTime);
		assertThat(this.clock.confirms(this.store, next)).isTrue();
	}

	@Test
	void anAnswerThatTakesLongHidesNoPause() {
		Reading reading = this.clock.read(this.store);
		this.serverTime += 200;
		this.onTheWay = 500;
		assertThat(this.clock.confirms(this.store, reading)).isFalse();
	}

}
