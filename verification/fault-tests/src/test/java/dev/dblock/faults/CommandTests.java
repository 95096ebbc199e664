package dev.dblock.faults;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What the command line says, and what is said of one that means nothing.
 */
class CommandTests {

	@Test
	void commandLineIsRead() {
		String[] args = { "million", "--sections", "100000", "--folder", "there" };
		assertThat(Command.of(args)).isSameAs(Command.MILLION);
		Options options = Command.MILLION.options(args);
		assertThat(options.number("sections", 1)).isEqualTo(100_000);
		assertThat(options.text("folder", "here")).isEqualTo("there");
		assertThat(options.number("threads", 4)).isEqualTo(4);
	}

	@Test
	void unknownCommandIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Command.of("walk"))
			.withMessage("There is no command 'walk'");
		assertThatIllegalArgumentException().isThrownBy(Command::of).withMessage("It is not said what to run");
	}

	@Test
	void optionOfAnotherCommandIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Command.JUDGE.options("judge", "--seed", "42"))
			.withMessage("'judge' knows no option '--seed'");
	}

	@Test
	void optionWithoutItsValueIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Command.RUN.options("run", "--seed", "42", "--only"))
			.withMessage("'--only' is no option with a value");
		assertThatIllegalArgumentException().isThrownBy(() -> Command.RUN.options("run", "seed", "42"))
			.withMessage("'seed' is no option with a value");
	}

	@Test
	void valueThatIsNoNumberIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> Command.MILLION.options("million", "--sections", "100k"))
			.withMessage("'100k' is no number, but --sections takes one");
	}

	@ParameterizedTest
	@EnumSource
	void usageNamesEachWithItsOptions(Command command) {
		assertThat(Command.usage()).contains("\n  " + command + " ");
	}

}
