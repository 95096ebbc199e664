package dev.dblock.testing;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ServerFolderTests {

	@Test
	void filesOfServersLieInTheFolderThatIsNamed(@TempDir Path named) {
		ServerFolder folder = ServerFolder.from(Map.of(ServerFolder.VARIABLE, named.toString()));
		assertThat(folder.create("dblock-")).isDirectory().hasParent(named);
		assertThat(folder.create("dblock-")).isNotEqualTo(folder.create("dblock-"));
		assertThat(folder.arguments()).last().asString().contains("prealloc=false");
	}

	@Test
	void withoutOneTheyAreTemporaryFiles() throws Exception {
		ServerFolder folder = ServerFolder.from(Map.of(ServerFolder.VARIABLE, " "));
		Path created = folder.create("dblock-");
		try {
			assertThat(created).hasParent(Path.of(System.getProperty("java.io.tmpdir")));
			assertThat(folder.arguments()).isEmpty();
		}
		finally {
			Files.delete(created);
		}
	}

	@Test
	void folderThatDoesNotExistIsNamedWithItsVariable(@TempDir Path existing) {
		ServerFolder folder = ServerFolder.from(Map.of(ServerFolder.VARIABLE, existing.resolve("missing").toString()));
		assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> folder.create("dblock-"))
			.withMessageContaining("missing, which DBLOCK_TEST_FOLDER names");
	}

}
