package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import dev.dblock.core.queue.LocalQueue;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs small casts of threads through one {@link LocalQueue} in every order there is. The
 * calls under the queue's monitor are atomic, and an order of calls is all that this
 * scheduler chooses; interleavings of the steps of other calls, such as leaving the
 * queue, are covered by {@code LocalQueueLincheckTests}. No time limit runs out here: a
 * parked thread continues only when it is woken, so a lost wake-up leaves a thread parked
 * at the end.
 */
@SameOnEachJdk
@Timeout(300)
class LocalQueueModelTests {

	static Stream<Arguments> casts() {
		return Stream.of(Arguments.of(1000, "WWW"), Arguments.of(0, "WWW"), Arguments.of(1, "WWWW"),
				Arguments.of(1000, "WIX"), Arguments.of(1000, "WWXT"), Arguments.of(1, "WIXT"), Arguments.of(0, "WIXT"),
				Arguments.of(1000, "WIIX"), Arguments.of(1000, "WWIT"), Arguments.of(1, "WWIX"),
				Arguments.of(0, "WWIX"), Arguments.of(1000, "WIXX"), Arguments.of(1000, "WITT"),
				Arguments.of(1000, "WLW"), Arguments.of(1000, "LIX"), Arguments.of(1, "LLT"), Arguments.of(1, "WWS"),
				Arguments.of(1, "WSX"), Arguments.of(1, "WWST"), Arguments.of(1000, "SSX"));
	}

	/**
	 * Others get their turn where the hand-overs are limited.
	 */
	static Stream<Arguments> castsThatPause() {
		return casts().filter((cast) -> (int) cast.get()[0] <= 1);
	}

	@ParameterizedTest(name = "{1}, {0} hand-overs")
	@MethodSource("casts")
	void everyOrderServesEveryThreadOnceInTurn(int handOvers, String cast) {
		assertThatEveryThreadIsServedOnceInTurn(handOvers, false, cast);
	}

	@ParameterizedTest(name = "{1}, {0} hand-overs")
	@MethodSource("castsThatPause")
	void everyOrderDoesSoWhereOtherProcessesPoll(int handOvers, String cast) {
		assertThatEveryThreadIsServedOnceInTurn(handOvers, true, cast);
	}

	private static void assertThatEveryThreadIsServedOnceInTurn(int handOvers, boolean polling, String cast) {
		Set<String> seen = new HashSet<>();
		Deque<List<Integer>> open = new ArrayDeque<>();
		open.push(List.of());
		int ends = 0;
		while (!open.isEmpty()) {
			List<Integer> path = new ArrayList<>(open.pop());
			LocalQueueModel model = new LocalQueueModel(handOvers, polling, cast);
			path.forEach(model::step);
			while (seen.add(model.state())) {
				List<Integer> choices = model.choices();
				if (choices.isEmpty()) {
					ends++;
					assertThat(model.isOver()).as(() -> "Somebody is left standing: " + model).isTrue();
					assertThat(model.isClean()).as(() -> "Something is left behind: " + model).isTrue();
					break;
				}
				for (int choice : choices.subList(1, choices.size())) {
					List<Integer> next = new ArrayList<>(path);
					next.add(choice);
					open.push(next);
				}
				// The first choice needs no new model
				path.add(choices.get(0));
				model.step(choices.get(0));
			}
		}
		assertThat(ends).isPositive();
		assertThat(seen).hasSizeGreaterThan(50);
	}

	static LeaseTerms terms() {
		return LeaseTerms.of(LockWorld.DEFAULTS.waitUpTo(Duration.ofDays(1)));
	}

}
