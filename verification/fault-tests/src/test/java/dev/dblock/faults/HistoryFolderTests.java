package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LossReason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.ArgumentCaptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/**
 * What workers record comes back as it was.
 */
class HistoryFolderTests {

	@TempDir
	private Path folder;

	private final LockHandle handle = mock();

	private Stamps stamps;

	private Records records;

	@BeforeEach
	void open() {
		this.stamps = new Stamps(this.folder);
		this.records = new Records(this.folder, 2, 1);
		given(this.handle.token()).willReturn(1024L);
		given(this.handle.isHeld()).willReturn(true);
		given(this.handle.remaining()).willReturn(Duration.ofSeconds(3));
	}

	private OpenAttempt attempt() {
		return new OpenAttempt(this.records.add(), this.stamps, 1, Kind.EXECUTE);
	}

	private History history(List<Fleet.Life> lives) throws IOException {
		HistoryFolder history = new HistoryFolder(this.folder);
		history.write(List.of(), List.of(), lives, List.of());
		return history.read();
	}

	private Attempt onlyAttempt() throws IOException {
		List<Attempt> attempts = history(List.of(new Fleet.Life(2, 1, 0))).attempts();
		assertThat(attempts).hasSize(1);
		return attempts.get(0);
	}

	@Test
	void recordsAreThereOnceTheRunHasEnded() throws IOException {
		HistoryFolder history = new HistoryFolder(this.folder);
		assertThatIllegalArgumentException().isThrownBy(history::requireThere)
			.withMessageContaining("'" + this.folder + "'")
			.withMessageContaining("--folder");
		history.write(List.of(), List.of(), List.of(), List.of());
		history.requireThere();
	}

	@Test
	void sectionIsRecordedFromItsGrantToTheLastTimeItsHandleWasHeld() throws IOException {
		OpenAttempt attempt = attempt();
		attempt.enter(this.handle);
		attempt.write(Writing.TOKEN, 7, Written.CONFIRMED);
		attempt.leave();
		assertThat(attempt.observe()).isFalse();
		attempt.end(Outcome.RELEASED);
		Attempt read = onlyAttempt();
		assertThat(read.worker()).isEqualTo(2);
		assertThat(read.life()).isEqualTo(1);
		assertThat(read.name()).isEqualTo(LockName.names().get(1));
		assertThat(read.kind()).isEqualTo(Kind.EXECUTE);
		assertThat(read.token()).isEqualTo(1024);
		assertThat(read.enterStamp()).isEqualTo(1);
		assertThat(read.heldStamp()).isEqualTo(3);
		assertThat(read.outcome()).isEqualTo(Outcome.RELEASED);
		assertThat(read.writing()).isEqualTo(Writing.TOKEN);
		assertThat(read.written()).isEqualTo(Written.CONFIRMED);
		assertThat(read.value()).isEqualTo(7);
		assertThat(read.requestNanos()).isLessThanOrEqualTo(read.enterNanos());
		assertThat(read.enterNanos()).isLessThanOrEqualTo(read.heldNanos());
		assertThat(read.heldUntilNanos() - read.heldNanos()).isGreaterThanOrEqualTo(Duration.ofSeconds(3).toNanos());
	}

	@Test
	void handleThatWasNeverHeldClaimsNothing() throws IOException {
		given(this.handle.isHeld()).willReturn(false);
		OpenAttempt attempt = attempt();
		attempt.enter(this.handle);
		attempt.leave();
		attempt.end(Outcome.LOST);
		assertThat(onlyAttempt().isClaimed()).isFalse();
		assertThat(onlyAttempt().isGranted()).isTrue();
	}

	@Test
	void handleThatIsHeldAfterItsLossIsRecorded() throws IOException {
		OpenAttempt attempt = attempt();
		attempt.enter(this.handle);
		attempt.observe();
		assertThat(onlyAttempt().heldAfterLoss()).isFalse();
		ArgumentCaptor<Consumer<LossReason>> callback = ArgumentCaptor.captor();
		then(this.handle).should().onLost(callback.capture());
		callback.getValue().accept(LossReason.EXPIRED);
		attempt.observe();
		assertThat(onlyAttempt().lostNanos()).isPositive();
		assertThat(onlyAttempt().heldAfterLoss()).isTrue();
	}

	@Test
	void attemptOfAKilledProcessEndsWithIt() throws IOException {
		attempt().enter(this.handle);
		assertThat(history(List.of(new Fleet.Life(2, 1, 77), new Fleet.Life(2, 2, 99))).attempts())
			.extracting(Attempt::endNanos)
			.containsExactly(77L);
		assertThat(onlyAttempt().endNanos()).isZero();
	}

	@Test
	void placeThatWasNotUsedHidesNothingBehindIt() throws IOException {
		this.records.add();
		attempt();
		assertThat(onlyAttempt().outcome()).isEqualTo(Outcome.OPEN);
	}

	@Test
	void processHasBegunWhenItIsKnownWhatCameOfAnAttempt() {
		assertThat(Records.haveBegun(this.folder, 2, 1)).isFalse();
		this.records.add();
		OpenAttempt granted = attempt();
		OpenAttempt refused = new OpenAttempt(new Records(this.folder, 2, 2).add(), this.stamps, 1, Kind.TRY);
		assertThat(Records.haveBegun(this.folder, 2, 1)).isFalse();
		assertThat(Records.haveBegun(this.folder, 2, 2)).isFalse();
		granted.enter(this.handle);
		assertThat(Records.haveBegun(this.folder, 2, 1)).isTrue();
		refused.end(Outcome.UNAVAILABLE);
		assertThat(Records.haveBegun(this.folder, 2, 2)).isTrue();
	}

	@Test
	void tablesComeBack() throws IOException {
		Window window = new Window("primary killed", 0, 1, 2);
		Stretch free = new Stretch("red", null, 1024, 3, 4);
		Stretch held = new Stretch("red", "somebody", 2048, 5, 6);
		HistoryFolder history = new HistoryFolder(this.folder);
		history.write(List.of(window), List.of(free, held), List.of(), List.of("worker-1"));
		assertThat(history.read())
			.isEqualTo(new History(List.of(), List.of(window), List.of(free, held), List.of("worker-1")));
	}

	@Test
	void ledgerAndPlanComeBackWhereThereAre() throws IOException {
		Plan plan = new Plan(Duration.ofSeconds(1860), true, List.of("worker killed", "stream's reads cut"));
		List<Committed> ledger = List.of(new Committed("red", 7, 1), new Committed("green", 1, 2));
		HistoryFolder history = new HistoryFolder(this.folder);
		history.write(List.of(), List.of(), List.of(), List.of());
		history.writePlan(plan);
		history.writeLedger(ledger);
		assertThat(history.read()).isEqualTo(new History(List.of(), List.of(), List.of(), List.of(), ledger, plan));
	}

}
