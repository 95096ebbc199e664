package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The judge before histories that were made by hand. Stamps and milliseconds run alike.
 */
class JudgeTests {

	private static final String OVERLAP = "overlaps";

	private static final String FALLING = "tokens that were not higher";

	private static final String REPEATED = "tokens granted twice";

	private static final String AGAIN = "handles that held the lock again";

	private static final String BY_TOKEN = "lost updates, refused by token";

	private static final String IN_TRANSACTION = "lost updates, in transactions";

	private static final String UNFENCED = "lost updates, unfenced";

	private static final String COMMITTED_TWICE = "numbers that more than one transaction has committed";

	private static final String NOT_THERE = "confirmed transactions whose number is not there";

	private static final String NEVER_DONE = "faults that were never done";

	private static final String NO_POWER = "figures that are 0";

	private static final String LEFT_FREE = "free locks left for more than 2 s";

	private static final String AFTER_ELECTION = "free locks left for more than 4 s after an election";

	private static final String NOT_ENTERED = "names that no thread entered for more than 2 s";

	private static final String BEHIND_TRANSACTION = "names that no thread entered until the server ended";

	private static final String ORPHANS = "locks without a holder";

	private static final String REVIVED = "leases that had ended";

	private static final String ELECTION = "leases of 10 s";

	private static final String UNFINISHED = "attempts that never came to an end";

	private static final String STUCK = "workers that did not stop";

	private final List<Attempt> attempts = new ArrayList<>();

	private final List<Window> windows = new ArrayList<>();

	private final List<Stretch> stretches = new ArrayList<>();

	private final List<String> stuck = new ArrayList<>();

	private @Nullable List<Committed> ledger;

	private @Nullable Plan plan;

	private List<Finding> findings() {
		return new Judge(new History(this.attempts, this.windows, this.stretches, this.stuck, this.ledger, this.plan))
			.findings();
	}

	private List<String> broken() {
		return findings().stream().filter((finding) -> finding.count() > 0).map(Finding::what).toList();
	}

	private void assertBroken(String... rules) {
		List<String> broken = broken();
		assertThat(broken).hasSameSizeAs(rules);
		for (String rule : rules) {
			assertThat(broken).anyMatch((what) -> what.startsWith(rule));
		}
	}

	private static long nanos(long millis) {
		return TimeUnit.MILLISECONDS.toNanos(millis);
	}

	private static Attempt section(int worker, long token, long enter, long held, Outcome outcome) {
		return section(worker, "red", token, enter, held, outcome);
	}

	private static Attempt section(int worker, String name, long token, long enter, long held, Outcome outcome) {
		return section(worker, name, Kind.ACQUIRE, token, enter, held, outcome);
	}

	private static Attempt section(int worker, String name, Kind kind, long token, long enter, long held,
			Outcome outcome) {
		return new Attempt(worker, 1, name, kind, nanos(enter - 1), enter, nanos(enter), token, held, nanos(held),
				nanos(held + 2000), 0, false, nanos(held + 1), outcome, Writing.NONE, Written.NOTHING, 0);
	}

	private static Attempt writing(Attempt attempt, Writing writing, Written written, long value) {
		return new Attempt(attempt.worker(), attempt.life(), attempt.name(), attempt.kind(), attempt.requestNanos(),
				attempt.enterStamp(), attempt.enterNanos(), attempt.token(), attempt.heldStamp(), attempt.heldNanos(),
				attempt.heldUntilNanos(), attempt.lostNanos(), attempt.heldAfterLoss(), attempt.endNanos(),
				attempt.outcome(), writing, written, value);
	}

	private static Attempt lost(Attempt attempt, long millis, boolean heldAfterLoss) {
		return new Attempt(attempt.worker(), attempt.life(), attempt.name(), attempt.kind(), attempt.requestNanos(),
				attempt.enterStamp(), attempt.enterNanos(), attempt.token(), attempt.heldStamp(), attempt.heldNanos(),
				attempt.heldUntilNanos(), nanos(millis), heldAfterLoss, attempt.endNanos(), attempt.outcome(),
				attempt.writing(), attempt.written(), attempt.value());
	}

	private static Attempt waiting(int worker, long from, long to) {
		return new Attempt(worker, 1, "red", Kind.ACQUIRE, nanos(from), 0, 0, 0, 0, 0, 0, 0, false, nanos(to),
				Outcome.UNAVAILABLE, Writing.NONE, Written.NOTHING, 0);
	}

	private static Stretch free(long from, long to) {
		return new Stretch("red", null, 1024, nanos(from), nanos(to));
	}

	private static Stretch held(long token, long from, long to) {
		return new Stretch("red", "somebody", token, nanos(from), nanos(to));
	}

	@Test
	void sectionsOneAfterTheOtherAreRight() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.attempts.add(section(2, 2048, 21, 30, Outcome.RELEASED));
		this.attempts.add(section(1, 2049, 31, 40, Outcome.RELEASED));
		assertBroken();
	}

	@Test
	void holderThatClaimsTheLockAfterAnotherHasEnteredOverlaps() {
		this.attempts.add(section(1, 1024, 10, 5000, Outcome.RELEASED));
		this.attempts.add(section(2, 2048, 4000, 4100, Outcome.RELEASED));
		assertBroken(OVERLAP);
	}

	@Test
	void longSectionOverlapsAlsoTheOneAfterTheNext() {
		this.attempts.add(section(1, 1024, 10, 100, Outcome.RELEASED));
		this.attempts.add(section(2, 2048, 20, 30, Outcome.RELEASED));
		this.attempts.add(section(3, 3072, 40, 50, Outcome.RELEASED));
		List<Finding> findings = new Judge(new History(this.attempts, List.of(), List.of(), List.of())).findings();
		assertThat(findings.get(0).count()).isEqualTo(2);
	}

	@Test
	void holderThatWasOvertakenWhileItWasStoppedAndSaysSoIsRight() {
		this.attempts.add(section(1, 1024, 10, 900, Outcome.LOST));
		this.attempts.add(section(2, 2048, 4000, 4100, Outcome.RELEASED));
		assertBroken();
	}

	@Test
	void grantThatWasNeverBelievedInIsNoClaim() {
		this.attempts.add(section(2, 2048, 4000, 4100, Outcome.RELEASED));
		Attempt late = section(1, 1024, 4050, 0, Outcome.LOST);
		this.attempts.add(late);
		assertThat(late.isClaimed()).isFalse();
		assertBroken();
	}

	@Test
	void sectionsOfDifferentLocksDoNotOverlap() {
		this.attempts.add(section(1, "red", 1024, 10, 30, Outcome.RELEASED));
		this.attempts.add(section(2, "green", 1024 * 1024, 20, 40, Outcome.RELEASED));
		assertBroken();
	}

	@Test
	void tokenLowerThanOneBeforeIsFalling() {
		this.attempts.add(section(1, 2048, 10, 20, Outcome.RELEASED));
		this.attempts.add(section(2, 1024, 30, 40, Outcome.RELEASED));
		assertBroken(FALLING);
	}

	@Test
	void sameTokenIsFallingAndRepeated() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.attempts.add(section(2, 1024, 30, 40, Outcome.RELEASED));
		assertBroken(FALLING, REPEATED);
	}

	@Test
	void handleThatHoldsAfterItsLossIsFound() {
		this.attempts.add(lost(section(1, 1024, 10, 20, Outcome.LOST), 15, true));
		assertBroken(AGAIN);
	}

	@Test
	void twoConfirmedWritesOfTheSameNumberAreALostUpdate() {
		for (Writing writing : List.of(Writing.TOKEN, Writing.TRANSACTION, Writing.UNFENCED)) {
			long start = 1000L * writing.ordinal();
			this.attempts
				.add(writing(section(1, start, start, start + 1, Outcome.RELEASED), writing, Written.CONFIRMED, 7));
			this.attempts.add(writing(section(2, start + 5, start + 5, start + 6, Outcome.RELEASED), writing,
					Written.CONFIRMED, 7));
		}
		assertBroken(BY_TOKEN, IN_TRANSACTION, UNFENCED);
	}

	@Test
	void writesThatWereRefusedOrNeverConfirmedLoseNothing() {
		this.attempts.add(writing(section(1, 1, 10, 20, Outcome.RELEASED), Writing.TOKEN, Written.CONFIRMED, 7));
		this.attempts.add(writing(section(2, 2, 30, 40, Outcome.RELEASED), Writing.TOKEN, Written.REFUSED, 7));
		this.attempts.add(writing(section(3, 3, 50, 60, Outcome.RELEASED), Writing.TOKEN, Written.UNKNOWN, 7));
		this.attempts.add(writing(section(3, 4, 70, 80, Outcome.RELEASED), Writing.TRANSACTION, Written.CONFIRMED, 7));
		assertBroken();
	}

	@Test
	void numberThatIsTwiceInTheLedgerIsALostUpdateThoughOneWasNeverConfirmed() {
		Attempt killed = section(1, 1024, 10, 20, Outcome.OPEN);
		this.attempts.add(writing(killed, Writing.TRANSACTION, Written.FENCED, 7));
		this.attempts
			.add(writing(section(2, 2048, 4000, 4100, Outcome.RELEASED), Writing.TRANSACTION, Written.CONFIRMED, 7));
		this.ledger = List.of(new Committed("red", 7, 1));
		assertBroken();
		this.ledger = List.of(new Committed("red", 7, 2));
		assertBroken(COMMITTED_TWICE);
		assertThat(findings()).filteredOn((finding) -> !finding.passed())
			.singleElement()
			.satisfies((finding) -> assertThat(finding.examples())
				.containsExactly("7 of 'red' is there 2 times; it was written by "
						+ "worker 1 (life 1) with token 1024 of 'red' (ACQUIRE, OPEN): FENCED, and by "
						+ "worker 2 (life 1) with token 2048 of 'red' (ACQUIRE, RELEASED): CONFIRMED"));
		this.attempts.set(0, writing(killed, Writing.TRANSACTION, Written.UNKNOWN, 7));
		assertBroken(COMMITTED_TWICE);
	}

	@Test
	void confirmedTransactionWhoseNumberIsNotInTheLedgerIsLost() {
		this.attempts.add(writing(section(1, 1, 10, 20, Outcome.RELEASED), Writing.TRANSACTION, Written.CONFIRMED, 7));
		this.ledger = List.of(new Committed("green", 7, 1), new Committed("red", 6, 1));
		assertBroken(NOT_THERE);
		assertThat(findings()).anyMatch((finding) -> !finding.passed());
		this.ledger = List.of(new Committed("red", 7, 1));
		assertBroken();
	}

	@Test
	void writesThatNobodyConfirmedOrThatWereInNoTransactionNeedNotBeInTheLedger() {
		this.attempts.add(writing(section(1, 1, 10, 20, Outcome.RELEASED), Writing.TOKEN, Written.CONFIRMED, 7));
		this.attempts.add(writing(section(1, 2, 30, 40, Outcome.LOST), Writing.TRANSACTION, Written.UNKNOWN, 8));
		this.attempts
			.add(writing(section(1, 3, 50, 60, Outcome.LOST), Writing.TRANSACTION, Written.REFUSED_BY_FENCE, 9));
		this.ledger = List.of();
		assertBroken();
	}

	@Test
	void ledgerOfARunThatSavedNoneIsNotJudged() {
		this.attempts.add(writing(section(1, 1, 10, 20, Outcome.RELEASED), Writing.TRANSACTION, Written.CONFIRMED, 7));
		assertThat(findings()).noneMatch((finding) -> List.of(COMMITTED_TWICE, NOT_THERE).contains(finding.what()));
	}

	private static Plan plan(Duration duration, boolean whole) {
		return new Plan(duration, whole, List.of("worker killed", "primary stepped down"));
	}

	/**
	 * What a run has to have seen that others may lose, and fenced writers must not.
	 */
	private void seeWhatIsToBeSeen() {
		this.attempts.add(writing(section(1, 1, 10, 20, Outcome.RELEASED), Writing.UNFENCED, Written.CONFIRMED, 7));
		this.attempts.add(writing(section(2, 2, 30, 40, Outcome.RELEASED), Writing.UNFENCED, Written.CONFIRMED, 7));
		this.attempts
			.add(writing(section(1, 3, 50, 60, Outcome.LOST), Writing.TRANSACTION, Written.REFUSED_BY_FENCE, 9));
		this.attempts.add(section(1, "slow", 4, 20_000, 29_000, Outcome.RELEASED));
		this.windows.add(new Window("primary elected", 0, nanos(20_500), nanos(23_000)));
		this.windows.add(new Window("worker killed", 1, nanos(90_000), nanos(91_000)));
		this.windows.add(new Window("primary stepped down", 0, nanos(92_000), nanos(93_000)));
	}

	@Test
	void faultThatWasTriedInVainMustHappenInALongRun() {
		seeWhatIsToBeSeen();
		this.plan = plan(Duration.ofMinutes(30), true);
		assertBroken(UNFENCED);
		this.windows.set(2, new Window(Window.notDone("primary stepped down"), 0, nanos(92_000), nanos(93_000)));
		this.windows.set(1, new Window(Window.noWriterFound("worker killed"), 1, nanos(90_000), nanos(91_000)));
		assertBroken(UNFENCED, NEVER_DONE);
		assertThat(findings()).filteredOn((finding) -> !finding.passed())
			.singleElement()
			.satisfies((finding) -> assertThat(finding.examples()).containsExactly("worker killed",
					"primary stepped down"));
	}

	@Test
	void shortRunAndOneOfSomeFaultsTellWhatNeverHappened() {
		for (Plan plan : List.of(plan(Duration.ofSeconds(1799), true), plan(Duration.ofMinutes(30), false))) {
			this.plan = plan;
			assertBroken(NEVER_DONE);
			assertThat(findings()).allMatch(Finding::passed);
		}
	}

	@Test
	void longRunThatCouldNotHaveShownItShowsNothing() {
		this.plan = new Plan(Duration.ofMinutes(30), true, List.of());
		assertBroken(NO_POWER);
		assertThat(findings()).filteredOn((finding) -> !finding.passed())
			.singleElement()
			.satisfies((finding) -> assertThat(finding.examples()).hasSize(3)
				.anyMatch((example) -> example.contains("no unfenced update was lost"))
				.anyMatch((example) -> example.contains("no transaction was refused by its fence"))
				.anyMatch((example) -> example.contains("no lease of 10 s was renewed")));
		seeWhatIsToBeSeen();
		assertBroken(UNFENCED);
		this.attempts.remove(2);
		assertBroken(UNFENCED, NO_POWER);
	}

	@Test
	void lostUnfencedUpdatesAreToldAndBreakNoRule() {
		this.attempts.add(writing(section(1, 1, 10, 20, Outcome.RELEASED), Writing.UNFENCED, Written.CONFIRMED, 7));
		this.attempts.add(writing(section(2, 2, 30, 40, Outcome.RELEASED), Writing.UNFENCED, Written.CONFIRMED, 7));
		assertThat(new Judge(new History(this.attempts, List.of(), List.of(), List.of())).findings())
			.allMatch(Finding::passed);
		assertBroken(UNFENCED);
	}

	@Test
	void freeLockIsLeftOnlyWhileSomebodyWaits() {
		this.stretches.add(free(0, 10_000));
		this.attempts.add(waiting(1, 0, 1500));
		this.attempts.add(waiting(1, 3000, 4500));
		assertBroken();
		this.attempts.add(waiting(2, 1400, 2500));
		assertBroken(LEFT_FREE);
	}

	@Test
	void freeLockMayBeLeftWhileTheServersAreDisturbedAndTwoSecondsMore() {
		this.stretches.add(free(0, 10_000));
		this.attempts.add(waiting(1, 0, 6000));
		this.windows.add(new Window("primary killed", 0, 0, nanos(4100)));
		assertBroken();
		this.windows.set(0, new Window("primary killed", 0, 0, nanos(3900)));
		assertBroken(LEFT_FREE);
	}

	@Test
	void freeLockMustBeTakenSoonAfterAnElectionThoughTheOldPrimaryIsNotBackYet() {
		this.stretches.add(free(0, 10_000));
		this.attempts.add(waiting(1, 0, 8000));
		this.windows.add(new Window("primary frozen", 0, 0, nanos(7000)));
		this.windows.add(Window.election("primary frozen", 0, nanos(4000)));
		assertBroken();
		this.windows.set(1, Window.election("primary frozen", 0, nanos(3999)));
		assertBroken(AFTER_ELECTION);
	}

	@Test
	void disturbedWorkerNeedNotTakeAFreeLockAndAnotherMust() {
		this.stretches.add(free(0, 10_000));
		this.windows.add(new Window("worker stopped", 1, 0, nanos(10_000)));
		this.attempts.add(waiting(1, 0, 10_000));
		assertBroken();
		this.attempts.add(waiting(2, 5000, 10_000));
		assertBroken(LEFT_FREE);
	}

	@Test
	void nameThatIsGrantedAndThatNobodyEntersIsFound() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-2-1", 3071, nanos(25), nanos(3000)));
		this.attempts.add(waiting(2, 0, 2021));
		assertBroken();
		this.attempts.add(waiting(3, 1500, 2022));
		assertBroken(NOT_ENTERED);
		this.attempts.add(section(3, 3072, 2020, 2030, Outcome.RELEASED));
		assertBroken();
	}

	@Test
	void nameNeedNotBeEnteredWhileTheServersAreDisturbedAndTwoSecondsMore() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.attempts.add(waiting(2, 0, 9000));
		this.windows.add(new Window("no majority", 0, nanos(2000), nanos(7000)));
		assertBroken();
		this.windows.set(0, new Window("no majority", 0, nanos(2000), nanos(6999)));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void nameNeedNotBeEnteredUntilTheLeaseOfItsLastHolderIsOver() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.OPEN));
		this.attempts.add(waiting(2, 0, 3523 + 2000));
		assertBroken();
		this.attempts.add(waiting(2, 0, 3523 + 2001));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void nameNeedNotBeEnteredUntilALeaseThatMayHaveBeenExtendedIsOver() {
		this.attempts.add(section(1, "red", Kind.EXTENDED, 1024, 10, 20, Outcome.LOST));
		this.attempts.add(waiting(2, 0, 3523 + 4500 + 2000));
		assertBroken();
		this.attempts.add(waiting(2, 0, 3523 + 4500 + 2001));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void leaseThatADisturbedHolderGaveBackMayLastUntilItsEnd() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.attempts.add(waiting(2, 0, 3523 + 2000));
		this.windows.add(new Window("connections reset", 1, nanos(0), nanos(500)));
		assertBroken();
		this.windows.set(0, new Window("connections reset", 3, nanos(0), nanos(500)));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void leaseWhoseAcquirerCouldNotBeToldMayLastUntilItsEnd() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(2000), nanos(5503)));
		this.attempts.add(waiting(2, 0, 5503 + 2000));
		this.windows.add(new Window("answers swallowed", 3, nanos(1900), nanos(4000)));
		assertBroken();
		this.windows.set(0, new Window("answers swallowed", 1, nanos(1900), nanos(4000)));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void leaseMayHaveBeenGrantedAnyTimeSinceTheServersWereLookedAtBefore() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.stretches.add(free(20, 60));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(3000), nanos(5000)));
		this.attempts.add(waiting(2, 0, 6000));
		this.windows.add(new Window("primary killed", 0, nanos(50), nanos(1500)));
		assertBroken();
		this.stretches.set(0, free(20, 2500));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void leaseThatWasEnteredIsNoDoubtfulOne() {
		this.attempts.add(section(1, 1024, 10, 1990, Outcome.RELEASED));
		this.attempts.add(section(3, 2048, 2050, 2500, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(2000), nanos(2501)));
		this.windows.add(new Window("answers swallowed", 3, nanos(1000), nanos(1500)));
		this.attempts.add(waiting(2, 0, 2501 + 2000));
		assertBroken();
		this.attempts.add(waiting(2, 0, 2501 + 2001));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void leaseOfWhichItsAcquirerHeardLateNeedNotBeEnteredUntilThen() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.attempts.add(section(3, 2048, 2900, 3000, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(100), nanos(3001)));
		this.windows.add(new Window("bandwidth cut", 3, nanos(50), nanos(1900)));
		this.attempts.add(waiting(2, 0, 2900));
		assertBroken();
		this.windows.set(0, new Window("bandwidth cut", 1, nanos(1500), nanos(1900)));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void earlierLeaseOfTheSameAcquirerSaysNothingOfTheNext() {
		this.attempts.add(section(3, 1500, 10, 1970, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(2000), nanos(5503)));
		this.windows.add(new Window("answers swallowed", 3, nanos(1000), nanos(1500)));
		this.attempts.add(waiting(2, 0, 5503 + 2000));
		assertBroken();
	}

	@Test
	void leaseOfMoreTokensThanUsualThatWasEnteredIsNoDoubtfulOne() {
		this.attempts.add(section(1, 1024, 10, 1990, Outcome.RELEASED));
		this.attempts.add(section(3, 2048, 1995, 2500, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 9215, nanos(2000), nanos(2501)));
		this.windows.add(new Window("answers swallowed", 3, nanos(1000), nanos(1500)));
		this.attempts.add(waiting(2, 0, 2501 + 2001));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void leaseThatIsSeenAgainAfterAFaultWasNotGrantedThen() {
		this.attempts.add(section(1, 1024, 10, 1500, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(1510), nanos(1520)));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(3000), nanos(3400)));
		this.windows.add(new Window("answers swallowed", 3, nanos(2600), nanos(2900)));
		this.attempts.add(waiting(2, 0, 1501 + 2001));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void nameThatNobodyEnteredIsToldWithWhatHappenedAroundIt() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.stretches.add(new Stretch("red", "worker-3-1", 3071, nanos(30), nanos(2500)));
		this.stretches.add(new Stretch("blue", "worker-3-1", 3071, nanos(30), nanos(2500)));
		this.windows.add(new Window("worker pauses", 3, nanos(2000), nanos(2200)));
		this.attempts.add(waiting(2, 0, 2600));
		this.attempts.add(section(2, 4096, 2610, 2620, Outcome.RELEASED));
		Finding finding = new Judge(new History(this.attempts, this.windows, this.stretches, this.stuck)).findings()
			.stream()
			.filter((each) -> each.what().startsWith(NOT_ENTERED))
			.findFirst()
			.orElseThrow();
		assertThat(finding.examples().get(0)).hasLineCount(6)
			.startsWith("'red' for 2,579 ms\n")
			.contains(
					"before: worker 1 (life 1) with token 1024 of 'red' (ACQUIRE, RELEASED), NONE NOTHING, asked at -12, "
							+ "entered at -11, held until -1, ended at 0\n")
			.contains("after: worker 2 (life 1) with token 4096 of 'red'")
			.contains("in vain: worker 2 (life 1) with token 0 of 'red' (ACQUIRE, UNAVAILABLE), NONE NOTHING, "
					+ "from -21 to 2,579\n")
			.contains("servers: 'worker-3-1' had it (token block of 3071) from 9 to 2,479\n")
			.endsWith("fault: worker pauses (worker 3) from 1,979 to 2,179");
	}

	@Test
	void takeOverWaitsForTheCommitOfAWorkerThatIsStopped() {
		Attempt stopped = section(1, 1024, 10, 20, Outcome.LOST).endedAt(nanos(6510));
		this.attempts.add(writing(stopped, Writing.TRANSACTION, Written.CONFIRMED, 7));
		this.windows.add(new Window("writer stopped", 1, nanos(15), nanos(6500)));
		this.attempts.add(waiting(2, 0, 8510));
		assertBroken();
		this.attempts.add(waiting(2, 0, 8511));
		assertBroken(NOT_ENTERED);
		this.attempts.remove(2);
		this.attempts.set(0, writing(stopped, Writing.TOKEN, Written.CONFIRMED, 7));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void takeOverWaitsForNoTransactionThatSentNoFence() {
		Attempt stopped = section(1, 1024, 10, 20, Outcome.LOST).endedAt(nanos(6510));
		this.windows.add(new Window("writer stopped", 1, nanos(15), nanos(6500)));
		this.attempts.add(writing(stopped, Writing.TRANSACTION, Written.REFUSED_BY_FENCE, 7));
		this.attempts.add(waiting(2, 0, 6510));
		assertBroken();
		this.attempts.set(0, writing(stopped, Writing.TRANSACTION, Written.FENCED, 7));
		assertBroken();
		this.attempts.set(0, writing(stopped, Writing.TRANSACTION, Written.REFUSED_BY_DEADLINE, 7));
		assertBroken(NOT_ENTERED);
		this.attempts.set(0, writing(stopped, Writing.TRANSACTION, Written.UNKNOWN, 7));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void nameBehindTheOpenTransactionOfAKilledWorkerIsToldAndBreaksNoRule() {
		Attempt killed = section(1, 1024, 10, 20, Outcome.OPEN);
		this.attempts.add(writing(killed, Writing.TRANSACTION, Written.FENCED, 7));
		this.attempts.add(waiting(2, 0, 60_000));
		assertBroken(BEHIND_TRANSACTION);
		this.attempts.set(0, writing(killed, Writing.TRANSACTION, Written.UNKNOWN, 7));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void transactionBehindWhichSomebodyHasEnteredExplainsNothing() {
		Attempt killed = section(1, 1024, 10, 20, Outcome.OPEN);
		this.attempts.add(writing(killed, Writing.TRANSACTION, Written.FENCED, 7));
		this.attempts.add(section(3, 2048, 3600, 3610, Outcome.RELEASED));
		this.attempts.add(waiting(2, 0, 60_000));
		assertBroken(NOT_ENTERED);
	}

	@Test
	void faultsThatGoOnAfterAnElectionAreEndedByIt() {
		Window fault = new Window("primary frozen", 0, 10, 90);
		Window other = new Window("primary frozen", 0, 110, 190);
		Window election = Window.election("primary frozen", 10, 50);
		History history = new History(List.of(), List.of(election, fault, other), List.of(), List.of());
		assertThat(history.endedByElections().windows()).contains(other)
			.allMatch((window) -> window.equals(other) || (window.isForAll() && window.endNanos() == 50));
	}

	@Test
	void leaseOfACrashedHolderMayLastUntilItsEnd() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.OPEN));
		this.stretches.add(held(2047, 10, 5000));
		assertBroken();
	}

	@Test
	void leaseThatIsKeptAliveForNobodyIsAnOrphan() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.LOST));
		this.stretches.add(held(2047, 10, 2020 + 3503 + 2001));
		assertBroken(ORPHANS);
	}

	@Test
	void leaseThatWasExtendedMayBeLeftToItsEnd() {
		this.attempts.add(section(1, "red", Kind.EXTENDED, 1024, 10, 20, Outcome.LOST));
		this.stretches.add(held(2047, 10, 2020 + 3503 + 4500 + 2000));
		assertBroken();
		this.stretches.set(0, held(2047, 10, 2020 + 3503 + 4500 + 2001));
		assertBroken(ORPHANS);
	}

	@Test
	void leaseThatNobodyWasEverToldOfIsAnOrphanAfterItsLength() {
		this.stretches.add(held(2047, 10, 5000));
		assertBroken();
		this.stretches.add(held(3071, 6000, 6000 + 3503 + 2001));
		assertBroken(ORPHANS);
	}

	@Test
	void claimsBelongToTheBlockOfTheirTokensHoweverManyItHas() {
		this.attempts.add(section(1, 1024, 10, 9000, Outcome.RELEASED));
		this.stretches.add(held(9215, 10, 9000 + 3503 + 2000));
		assertBroken();
		this.stretches.add(held(9216, 20000, 20000 + 3503 + 2001));
		assertBroken(ORPHANS);
	}

	@Test
	void leaseThatIsThereAgainWithoutAnotherGrantWasRevived() {
		this.stretches.add(held(2047, 10, 3000));
		this.stretches.add(new Stretch("red", null, 2047, nanos(3100), nanos(3200)));
		this.stretches.add(held(3071, 3300, 4000));
		assertBroken();
		this.stretches.set(2, held(2047, 3300, 4000));
		assertBroken(REVIVED);
		this.windows.add(new Window("primary killed", 0, nanos(2000), nanos(3250)));
		assertBroken();
	}

	@Test
	void lastHandleOfALeaseThatWasHandedOverCounts() {
		this.attempts.add(section(1, 1024, 10, 20, Outcome.RELEASED));
		this.attempts.add(section(1, 1025, 21, 9000, Outcome.RELEASED));
		this.stretches.add(held(2047, 10, 9000 + 3503 + 2000));
		assertBroken();
	}

	@Test
	void longLeaseMayNotBeLostAtAShortElectionAlone() {
		this.attempts.add(lost(section(1, "slow", 1024, 10, 20, Outcome.LOST), 9000, false));
		this.windows.add(new Window("primary killed", 0, nanos(1000), nanos(4000)));
		assertBroken(ELECTION);
		this.windows.add(new Window("worker stopped past lease", 2, nanos(1000), nanos(8000)));
		assertBroken(ELECTION);
		this.windows.add(new Window("worker stopped past lease", 1, nanos(1000), nanos(8000)));
		assertBroken();
	}

	@Test
	void longLeaseMayBeLostAtALongElection() {
		this.attempts.add(lost(section(1, "slow", 1024, 10, 20, Outcome.LOST), 9000, false));
		this.windows.add(new Window("primary killed", 0, nanos(1000), nanos(6001)));
		assertBroken();
	}

	@Test
	void longLeaseMayNotBeLostWhileThePrimaryIsSilentForAShortTime() {
		this.attempts.add(lost(section(1, "slow", 1024, 10, 20, Outcome.LOST), 9000, false));
		this.windows.add(new Window("primary killed", 0, nanos(1000), nanos(4000)));
		this.windows.add(new Window("primary not writable", 0, nanos(900), nanos(5899)));
		assertBroken(ELECTION);
		this.windows.add(new Window("machine stood still", 0, nanos(7000), nanos(8100)));
		assertBroken();
	}

	@Test
	void longLeaseMayBeLostAtElectionsThatAreLongTogether() {
		this.attempts.add(lost(section(1, "slow", 1024, 10, 20, Outcome.LOST), 9000, false));
		this.windows.add(new Window("primary killed", 0, nanos(1000), nanos(4000)));
		this.windows.add(new Window("primary elected", 0, nanos(6000), nanos(8000)));
		assertBroken();
	}

	@Test
	void attemptOfAProcessThatWasNotKilledMustEnd() {
		Attempt open = section(1, 1024, 10, 20, Outcome.OPEN);
		this.attempts.add(open.endedAt(nanos(30)));
		assertBroken();
		this.attempts.set(0, open.endedAt(0));
		assertBroken(UNFINISHED);
	}

	@Test
	void workerThatDoesNotStopIsStuck() {
		this.stuck.add("worker-1");
		assertBroken(STUCK);
	}

}
