package dev.dblock.faults;

import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which workers have begun to work. Here they find no class to run.
 */
class FleetTests {

	@TempDir
	private Path folder;

	private void work(int life) {
		new OpenAttempt(new Records(this.folder, 1, life).add(), new Stamps(this.folder), 0, Kind.TRY)
			.end(Outcome.UNAVAILABLE);
	}

	@Test
	void processThatNeverBeganIsTold() {
		try (Fleet fleet = new Fleet(this.folder, "", 1, null, "", List.of())) {
			fleet.start(1);
			work(1);
			assertThat(fleet.isWorking(1)).isTrue();
			assertThat(fleet.idle()).isEmpty();
			fleet.kill(1);
			fleet.start(1);
			assertThat(fleet.isWorking(1)).isFalse();
			assertThat(fleet.idle()).singleElement().asString().startsWith("worker-1 (life 2)");
			work(2);
			assertThat(fleet.isWorking(1)).isTrue();
			assertThat(fleet.idle()).isEmpty();
		}
	}

}
