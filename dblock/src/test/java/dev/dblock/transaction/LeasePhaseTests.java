package dev.dblock.transaction;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.transaction.LeasePhase.Event;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

class LeasePhaseTests {

	private static final Path PAGE = Path.of("../docs/architecture.md");

	@Test
	void thePictureShowsTheTable() throws IOException {
		String page = Files.readString(PAGE);
		String begin = "```mermaid\nstateDiagram-v2\n";
		int start = page.indexOf(begin);
		assertThat(start).as("a state diagram in %s", PAGE).isNotNegative();
		String picture = page.substring(start + begin.length(), page.indexOf("```", start + begin.length()));
		assertThat(picture.lines().map(String::strip)).containsExactlyElementsOf(transitions());
	}

	private static List<String> transitions() {
		List<String> all = new ArrayList<>(List.of("[*] --> " + LeasePhase.values()[0]));
		for (LeasePhase phase : LeasePhase.values()) {
			for (Event event : Event.values()) {
				if (phase.allows(event)) {
					all.add("%s --> %s: %s".formatted(phase, phase.after(event), event));
				}
			}
		}
		return all;
	}

	@ParameterizedTest
	@EnumSource
	void aLeaseThatHasEndedStaysSo(LeasePhase phase) {
		for (Event event : Event.values()) {
			LeasePhase next = phase.after(event);
			if (!phase.isHeld() && next != null) {
				assertThat(next.isHeld()).as("%s after %s", phase, event).isFalse();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLeaseThatATransactionKeepsIsNeitherReleasedNorHandedOver(LeasePhase phase) {
		if (phase.allows(Event.TRANSACTIONS_ENDED)) {
			assertThat(phase.allows(Event.RELEASE)).isFalse();
			assertThat(phase.allows(Event.HAND_OVER)).isFalse();
		}
	}

}
