package dev.dblock.simulation;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.faults.FaultMutants;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Everything that {@code VERIFICATION.md} names exists, and no promise is missing in it.
 */
class VerificationDocumentTests {

	private static final Path ROOT = Path.of("..", "..");

	private static final Pattern PROMISE = Pattern.compile("^- \\*\\*\\[?([^*\\]]+?)(]\\(.*?\\))?\\.\\*\\*",
			Pattern.MULTILINE);

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	private static final Pattern ONLY = Pattern.compile("--only \"?([^\"]+)\"?");

	private final List<List<String>> rows = rows();

	private static String read(String file) {
		try {
			return Files.readString(ROOT.resolve(file));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static List<List<String>> rows() {
		return read("VERIFICATION.md").lines()
			.filter((line) -> line.startsWith("| "))
			.skip(1)
			.map((line) -> Arrays.stream(line.substring(1).split("\\|")).map(String::trim).toList())
			.toList();
	}

	private Stream<String> cells(int column) {
		return this.rows.stream().map((row) -> row.get(column)).filter((cell) -> !cell.isEmpty());
	}

	private Stream<String> parts(int column) {
		return cells(column).flatMap((cell) -> Stream.of(cell.split("; ")));
	}

	private static Stream<String> codes(String text) {
		return CODE.matcher(text).results().map((code) -> code.group(1));
	}

	@Test
	void eachPromiseHasALine() {
		assertThat(cells(0))
			.containsExactlyElementsOf(PROMISE.matcher(read("docs/guarantees.md").split("## Assumptions")[0])
				.results()
				.map((promise) -> promise.group(1))
				.toList());
	}

	@Test
	void theMutantsExist() {
		Set<String> simulated = SimulationMutants.all()
			.stream()
			.map(SimulationMutants.Mutant::name)
			.collect(Collectors.toSet());
		assertThat(parts(2)).isSubsetOf(simulated);
		assertThat(parts(3)).isSubsetOf(FaultMutants.names());
		assertThat(cells(5).flatMap((cell) -> ONLY.matcher(cell.replace("`", "")).results())

			.map((only) -> only.group(1)))
			.allSatisfy((only) -> assertThat(simulated).anyMatch((name) -> name.contains(only)));
	}

	@Test
	void theWeakenedFormsOfModelsExist() {
		String forms = read("verification/model/README.md");
		assertThat(codes(String.join(" ", cells(1).toList())))
			.allSatisfy((form) -> assertThat(forms).contains("| `" + form + "` |"));
	}

	@Test
	void theScriptsExist() {
		assertThat(
				codes(read("VERIFICATION.md")).map((code) -> code.split(" ")[0]).filter((code) -> code.contains("/")))
			.isNotEmpty()
			.allSatisfy((script) -> assertThat(ROOT.resolve(script)).isExecutable());
	}

	@Test
	void theTestsExist() throws IOException {
		assertThat(codes(String.join(" ", cells(4).toList()))).isSubsetOf(tests());
	}

	/**
	 * Return the names of all tests. The folders of builds are passed over, since another
	 * module may be built at the same time.
	 */
	private static List<String> tests() throws IOException {
		List<String> tests = new ArrayList<>();
		Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {

			@Override
			public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
				String name = folder.getFileName().toString();
				return (name.equals("target") || name.startsWith(".") && !name.equals(".."))
						? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
				if (file.toString().contains("/src/test/") && file.toString().endsWith(".java")) {
					tests.add(file.getFileName().toString().replace(".java", ""));
				}
				return FileVisitResult.CONTINUE;
			}

		});
		return tests;
	}

}
