package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which leases count as renewed through an election. Stamps and milliseconds run alike.
 */
class LongLeasesTests {

	private final List<Window> windows = new ArrayList<>(
			List.of(new Window(Window.ELECTED, 0, nanos(10_000), nanos(13_000))));

	private static long nanos(long millis) {
		return TimeUnit.MILLISECONDS.toNanos(millis);
	}

	private static Attempt section(String name, long enter, long held, long until) {
		return new Attempt(1, 1, name, Kind.ACQUIRE, nanos(enter - 1), enter, nanos(enter), 1024, held, nanos(held),
				nanos(until), 0, false, nanos(held + 1), Outcome.RELEASED, Writing.NONE, Written.NOTHING, 0);
	}

	private long renewed(Attempt section) {
		return new LongLeases(new History(List.of(section), this.windows, List.of(), List.of()))
			.renewedThroughElections();
	}

	@Test
	void leaseThatWasRenewedSinceTheElectionBeganLivedThroughIt() {
		assertThat(renewed(section("slow", 9_000, 13_100, 20_001))).isOne();
		assertThat(renewed(section("slow", 9_000, 13_100, 20_000))).isZero();
	}

	@Test
	void sectionThatBeganLaterOrEndedBeforeDidNot() {
		assertThat(renewed(section("slow", 10_000, 13_100, 20_001))).isZero();
		assertThat(renewed(section("slow", 9_000, 13_000, 20_001))).isZero();
	}

	@Test
	void shortLeasesDoNotCount() {
		assertThat(renewed(section("red", 9_000, 13_100, 20_001))).isZero();
	}

	@Test
	void electionsOfALeaseCountOnce() {
		this.windows.add(new Window(Window.ELECTED, 0, nanos(14_000), nanos(14_500)));
		assertThat(renewed(section("slow", 9_000, 15_000, 24_500))).isOne();
	}

	@Test
	void electionDoesNotCountWhereALossWouldNotBeJudged() {
		Attempt section = section("slow", 9_000, 13_100, 20_001);
		this.windows.add(new Window("connections reset", 2, nanos(15_000), nanos(16_000)));
		this.windows.add(new Window("primary killed", 0, nanos(9_000), nanos(12_000)));
		assertThat(renewed(section)).isOne();
		this.windows.add(new Window("connections reset", 1, nanos(2_000), nanos(8_000)));
		this.windows.add(new Window("connections reset", 1, nanos(18_000), nanos(19_000)));
		assertThat(renewed(section)).isOne();
		this.windows.set(4, new Window("connections reset", 1, nanos(17_999), nanos(19_000)));
		assertThat(renewed(section)).isZero();
		this.windows.set(4, new Window("primary frozen", 0, nanos(15_000), nanos(16_001)));
		assertThat(renewed(section)).isZero();
	}

	@Test
	void electionAfterWhichAFaultGoesOnCounts() {
		this.windows.set(0, Window.election("primary frozen", nanos(10_000), nanos(13_000)));
		this.windows.add(new Window("primary frozen", 0, nanos(10_000), nanos(14_999)));
		assertThat(renewed(section("slow", 9_000, 13_100, 20_001))).isOne();
		this.windows.set(1, new Window("primary frozen", 0, nanos(10_000), nanos(15_000)));
		assertThat(renewed(section("slow", 9_000, 13_100, 20_001))).isZero();
	}

}
