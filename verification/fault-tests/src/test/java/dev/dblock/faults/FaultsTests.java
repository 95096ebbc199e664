package dev.dblock.faults;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import dev.dblock.testing.Cluster;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoNode;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willDoNothing;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;

/**
 * When faults are over. What they do is seen where they happen.
 */
class FaultsTests {

	private static final MongoException SLOW = new MongoException("no answer");

	private final FaultLog log = new FaultLog();

	private final Cluster cluster = mock();

	private final Fleet fleet = mock();

	private final World world = mock();

	private final MongoNode node = mock();

	@BeforeEach
	void build() {
		given(this.world.cluster()).willReturn(this.cluster);
		given(this.world.fleet()).willReturn(this.fleet);
		given(this.world.log()).willReturn(this.log);
		given(this.world.random()).willReturn(new Random(1));
		given(this.world.anyWorker()).willReturn(2);
		given(this.cluster.size()).willReturn(3);
		given(this.cluster.node(anyInt())).willReturn(this.node);
		given(this.node.isRunning()).willReturn(true);
		meet(5, 8);
	}

	/**
	 * What the server counts of a fail point, one after the other.
	 */
	private void meet(Object first, Object... further) {
		Document[] answers = Stream.of(further).map((count) -> new Document("count", count)).toArray(Document[]::new);
		given(this.node.command(any())).willReturn(new Document("count", first), answers);
	}

	private Window window() {
		assertThat(this.log.windows()).hasSize(1);
		return this.log.windows().get(0);
	}

	private void assertHappened(String kind) {
		assertThat(window().kind()).isEqualTo(kind);
		assertThat(window().isFor(2)).isTrue();
	}

	private static Fault commands(FailCommand failCommand) {
		return Faults.commands("commands fail", failCommand, 20);
	}

	@Test
	void failureOfCommandsIsRecordedThoughItCannotBeEnded() {
		willThrow(SLOW).given(this.cluster).clearFailPoints();
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> commands(FailCommand.on("update").errorCode(50)).happen(this.world));
		assertThat(window().worker()).isEqualTo(2);
	}

	@Test
	void failureOfCommandsIsEndedThoughAServerIsSlowToAnswer() throws Exception {
		willThrow(SLOW).willDoNothing().given(this.cluster).clearFailPoints();
		commands(FailCommand.on("update").errorCode(50)).happen(this.world);
		then(this.cluster).should(times(2)).clearFailPoints();
		assertThat(window().endNanos()).isLessThanOrEqualTo(System.nanoTime());
	}

	@Test
	void failureThatWasMetIsDone() throws Exception {
		meet(5, 6L);
		commands(FailCommand.on("update").errorCode(50)).happen(this.world);
		assertHappened("commands fail");
	}

	@Test
	void failureThatNoCommandHasMetIsNotDone() throws Exception {
		meet(5, 5L);
		commands(FailCommand.on("update").errorCode(50)).happen(this.world);
		assertHappened("commands fail, not done");
	}

	@Test
	void failureThatWasMetByOneMemberIsDone() throws Exception {
		meet(5, 5, 5, 5, 6, 5);
		commands(FailCommand.on("update").errorCode(50)).happen(this.world);
		for (int member : List.of(0, 1, 2)) {
			then(this.cluster).should().failCommand(eq(member), any());
		}
		assertHappened("commands fail");
	}

	@Test
	void failureIsEndedWhenAFrozenServerIsBack() throws Exception {
		given(this.node.isRunning()).willReturn(true, true, true, false, true);
		meet(5, 5, 5, 6);
		commands(FailCommand.on("update").errorCode(50)).happen(this.world);
		then(this.node).should(times(7)).isRunning();
		assertHappened("commands fail");
	}

	@Test
	void failureOfWhichAServerKnowsNothingAfterItsStartIsNotDone() throws Exception {
		meet(5, 5, 5, 0);
		commands(FailCommand.on("update").errorCode(50)).happen(this.world);
		assertHappened("commands fail, not done");
	}

	@Test
	void failureThatIsRefusedIsNotDone() {
		willThrow(SLOW).given(this.cluster).failCommand(anyInt(), any());
		meet(5, 5);
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> commands(FailCommand.on("update").errorCode(50)).happen(this.world));
		assertHappened("commands fail, not done");
	}

	@Test
	void failureThatCouldNotBeginIsNotDoneThoughItsCountIsKnownLater() {
		given(this.node.command(any())).willThrow(SLOW).willReturn(new Document("count", 5));
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> commands(FailCommand.on("update").errorCode(50)).happen(this.world));
		assertHappened("commands fail, not done");
	}

	@Test
	void commandsThatAreBlockedStaySoAfterTheLastOne() throws Exception {
		long begin = System.nanoTime();
		commands(FailCommand.on("update").blockFor(Duration.ofMinutes(1))).happen(this.world);
		assertThat(window().endNanos()).isGreaterThan(begin + Duration.ofMinutes(1).toNanos());
	}

	@Test
	void stoppedReplicationIsRecordedThoughItCannotBeEnded() {
		willThrow(SLOW).given(this.node).command(any());
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> ServerFaults.stopReplication(this.world, "replication stopped"));
		assertThat(window().isForAll()).isTrue();
		assertHappened("replication stopped, not done");
	}

	@Test
	void replicationIsStoppedWhenEachOfTheOthersWas() throws InterruptedException {
		meet(1, 4, 1, 4, 2, 5);
		ServerFaults.stopReplication(this.world, "replication stopped");
		assertHappened("replication stopped");
	}

	@Test
	void replicationToAMemberThatNeverStoppedGoesOn() throws InterruptedException {
		meet(1, 4, 1, 4, 2, 4);
		ServerFaults.stopReplication(this.world, "replication stopped");
		assertHappened("replication stopped, not done");
	}

	@Test
	void stepDownThatIsRefusedIsRecordedAsNotDone() {
		willThrow(SLOW).given(this.cluster).stepDown(anyInt(), anyInt());
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> ServerFaults.stepDown(this.world, "primary stepped down"));
		assertThat(window().isForAll()).isTrue();
		assertHappened("primary stepped down, not done");
	}

	@Test
	void stepDownThatNoOtherMemberIsReadyForIsNotDone() throws InterruptedException {
		BsonDocument answer = BsonDocument.parse("{ok: 0, code: 262, errmsg: 'No electable secondaries caught up'}");
		willThrow(new MongoCommandException(answer, new ServerAddress())).given(this.cluster)
			.stepDown(anyInt(), anyInt());
		ServerFaults.stepDown(this.world, "primary stepped down");
		assertHappened("primary stepped down, not done");
	}

	@Test
	void stepDownIsDoneWhenThereIsAPrimaryAgain() throws InterruptedException {
		ServerFaults.stepDown(this.world, "primary stepped down");
		then(this.cluster).should(times(2)).awaitPrimary();
		assertHappened("primary stepped down");
	}

	@Test
	void writerThatIsNotFoundIsToldApart() throws InterruptedException {
		given(this.fleet.worker(2)).willReturn(mock());
		Faults.stopWriter(this.world, "writer stopped", Duration.ZERO, 1, Moment.FENCE);
		then(this.fleet.worker(2)).should().pause();
		assertHappened("writer stopped, no writer found");
	}

	@Test
	void writerThatIsFoundIsStopped() throws InterruptedException {
		Stamps stamps = mock();
		given(this.world.stamps()).willReturn(stamps);
		given(this.fleet.numbers()).willReturn(List.of(1, 2));
		given(stamps.isWriting(2, Moment.FENCE)).willReturn(true);
		given(this.fleet.worker(2)).willReturn(mock());
		Faults.stopWriter(this.world, "writer stopped", Duration.ofMinutes(1), 1, Moment.COMMIT, Moment.FENCE);
		then(this.fleet.worker(2)).should().pause();
		assertHappened("writer stopped");
	}

	@Test
	void workerThatWasKilledIsGoneUntilItsNextLifeHasBegun() throws InterruptedException {
		given(this.fleet.isWorking(2)).willReturn(false, false, true);
		Faults.killWorker(this.world, "worker killed");
		then(this.fleet).should().start(2);
		then(this.fleet).should(times(3)).isWorking(2);
		assertThat(window().worker()).isEqualTo(2);
	}

	@Test
	void workerThatNeverComesBackIsNotWaitedForForEver() throws InterruptedException {
		willReturn(false).given(this.fleet).isWorking(2);
		willDoNothing().given(this.world).sleep(anyLong());
		Faults.killWorker(this.world, "worker killed");
		assertThat(window().worker()).isEqualTo(2);
	}

}
