package dev.dblock.faults;

import java.time.Duration;
import java.util.Random;

import com.mongodb.MongoException;
import dev.dblock.testing.Cluster;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoNode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
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

	@BeforeEach
	void build() {
		given(this.world.cluster()).willReturn(this.cluster);
		given(this.world.fleet()).willReturn(this.fleet);
		given(this.world.log()).willReturn(this.log);
		given(this.world.random()).willReturn(new Random(1));
		given(this.world.anyWorker()).willReturn(2);
		given(this.cluster.size()).willReturn(3);
	}

	private Window window() {
		assertThat(this.log.windows()).hasSize(1);
		return this.log.windows().get(0);
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
	void commandsThatAreBlockedStaySoAfterTheLastOne() throws Exception {
		long begin = System.nanoTime();
		commands(FailCommand.on("update").blockFor(Duration.ofMinutes(1))).happen(this.world);
		assertThat(window().endNanos()).isGreaterThan(begin + Duration.ofMinutes(1).toNanos());
	}

	@Test
	void stoppedReplicationIsRecordedThoughItCannotBeEnded() {
		MongoNode node = mock();
		given(this.cluster.node(anyInt())).willReturn(node);
		willThrow(SLOW).given(node).command(any());
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> ServerFaults.stopReplication(this.world, "replication stopped"));
		assertThat(window().isForAll()).isTrue();
	}

	@Test
	void stepDownThatIsRefusedIsRecorded() {
		willThrow(SLOW).given(this.cluster).stepDown(anyInt(), anyInt());
		assertThatExceptionOfType(MongoException.class)
			.isThrownBy(() -> ServerFaults.stepDown(this.world, "primary stepped down"));
		assertThat(window().isForAll()).isTrue();
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
