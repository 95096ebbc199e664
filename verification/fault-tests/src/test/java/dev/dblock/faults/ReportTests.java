package dev.dblock.faults;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is printed, and that it is the same everywhere.
 */
class ReportTests {

	private final Locale locale = Locale.getDefault();

	@AfterEach
	void restore() {
		Locale.setDefault(this.locale);
	}

	private static String print(History history) {
		ByteArrayOutputStream printed = new ByteArrayOutputStream();
		new Report(history, new PrintStream(printed, true, StandardCharsets.UTF_8)).print();
		return printed.toString(StandardCharsets.UTF_8);
	}

	private static long nanos(long millis) {
		return TimeUnit.MILLISECONDS.toNanos(millis);
	}

	@Test
	void numbersAreTheSameInEveryLocale() {
		Attempt late = new Attempt(1, 1, "red", Kind.ACQUIRE, 1, 0, 0, 0, 0, 0, 0, 0, false, nanos(9000),
				Outcome.UNAVAILABLE, Writing.NONE, Written.NOTHING, 0);
		History history = new History(List.of(late), List.of(),
				List.of(new Stretch("red", null, 1024, nanos(1000), nanos(4500))), List.of());
		Locale.setDefault(Locale.ROOT);
		String printed = print(history);
		assertThat(printed).contains("'red' for 3,500 ms",
				"servers: nobody had it (token block of 1024) from 0 to 3,500");
		for (String locale : List.of("de-DE", "ar-EG-u-nu-arab")) {
			Locale.setDefault(Locale.forLanguageTag(locale));
			assertThat(print(history)).isEqualTo(printed);
		}
	}

	@Test
	void faultThatWasNotDoneIsNotCountedAsThatFault() {
		List<Window> windows = List.of(new Window("primary stepped down", 0, nanos(1000), nanos(1100)),
				new Window(Window.notDone("primary stepped down"), 0, nanos(5000), nanos(5200)),
				new Window("fenced writer stopped", 1, nanos(6000), nanos(6300)),
				new Window(Window.noWriterFound("fenced writer stopped"), 1, nanos(7000), nanos(7400)));
		assertThat(print(new History(List.of(), windows, List.of(), List.of())))
			.containsPattern("primary stepped down +1 +100 ")
			.containsPattern("primary stepped down, not done +1 +200 ")
			.containsPattern("fenced writer stopped +1 +300 ")
			.containsPattern("fenced writer stopped, no writer found +1 +400 ");
	}

	@Test
	void dataThatWereNotLookedAtAreToldOf() {
		String data = "numbers that transactions have committed, in the data: ";
		assertThat(print(new History(List.of(), List.of(), List.of(), List.of()))).contains(data + "not looked at");
		assertThat(print(new History(List.of(), List.of(), List.of(), List.of(),
				List.of(new Committed("red", 1, 1), new Committed("red", 2, 1)), null)))
			.contains(data + "2\n");
	}

	@Test
	void whatTheMachineDidHasARowOfItsOwn() {
		List<Window> windows = List.of(new Window("primary not writable", 0, nanos(1000), nanos(2500)),
				new Window("primary not writable", 0, nanos(5000), nanos(6200)),
				new Window("machine stood still", 0, nanos(7000), nanos(8010)));
		assertThat(print(new History(List.of(), windows, List.of(), List.of())))
			.containsPattern("primary not writable +2 +1,500 ")
			.containsPattern("machine stood still +1 +1,010 ");
	}

}
