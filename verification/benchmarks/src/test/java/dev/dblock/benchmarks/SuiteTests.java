package dev.dblock.benchmarks;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import com.mongodb.client.MongoCollection;
import dev.dblock.benchmarks.Line.Verdict;
import dev.dblock.benchmarks.WorkerMain.Job;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class SuiteTests {

	private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

	private final PrintStream out = new PrintStream(this.printed, true, StandardCharsets.UTF_8);

	@TempDir
	Path folder;

	@Test
	void runsRefusalsAndWritesTheTable(MongoServer server) throws IOException {
		Arguments arguments = Arguments.parse("--quick", "--cases", "p2", "--output", this.folder.toString());
		boolean reached = Main.run(arguments, addresses(server), this.out, this.out);
		Document results = Document.parse(Files.readString(this.folder.resolve("results.json")));
		assertThat(results.getBoolean("reached")).isEqualTo(reached);
		List<Document> lines = results.getList("lines", Document.class);
		assertThat(lines).extracting((line) -> line.get("case")).containsOnly("P2");
		assertThat(lines.get(0).get("ratio", Document.class).getDouble("median")).isPositive();
		assertThat(lines.get(0).getEmbedded(List.of("against", "subject"), String.class))
			.isEqualTo("raw no-op findAndModify");
		assertThat(lines.get(1)).containsEntry("verdict", "MISSING").containsEntry("note", RedisServer.MISSING);
		assertThat(lines.get(2)).containsEntry("verdict", "REACHED");
		assertThat(lines.get(2).getEmbedded(List.of("value", "value"), Double.class)).isZero();
		String table = Files.readString(this.folder.resolve("results.md"));
		assertThat(table).contains("| P2 | refused, held in this process: requests | 0 |");
		assertThat(this.printed.toString(StandardCharsets.UTF_8)).contains(table);
	}

	@Test
	void goesOnAfterACaseThatFailsAndDoesNotPass(MongoServer server) throws IOException {
		BenchmarkCase broken = new OneLine("X1", null);
		BenchmarkCase slow = new OneLine("X2", Line.absolute("X2", "slow", Quantity.nanos(2), Bound.atMost(1), ""));
		BenchmarkCase good = new OneLine("X3", Line.absolute("X3", "good", Quantity.nanos(1), Bound.atMost(1), ""));
		assertThat(Main.run(new Arguments(List.of(broken, slow, good), true, this.folder), addresses(server), this.out,
				this.out))
			.isFalse();
		assertThat(Files.readString(this.folder.resolve("results.md"))).contains("| X1 | broken |")
			.contains("failed: java.lang.IllegalStateException: broken")
			.contains("| X2 | slow | 2 ns |  |  |  | ≤ 1 ns | **no** |")
			.contains("| X3 | good | 1 ns |  |  |  | ≤ 1 ns | yes |");
		assertThat(Main.run(new Arguments(List.of(good), true, this.folder), addresses(server), this.out, this.out))
			.isTrue();
	}

	@Test
	void otherJvmsDoAsTheyAreTold(MongoServer server) throws IOException {
		try (Worker one = Worker.start(addresses(server)); Worker other = Worker.start(addresses(server))) {
			one.call(Job.ENTER.order(Subject.DBLOCK).append("name", "section"));
			other.send(Job.ENTER.order(Subject.DBLOCK).append("name", "section"));
			long left = Numbers.integer(one.call(Job.LEAVE.order(Subject.DBLOCK)), "nanos");
			long entered = Numbers.integer(other.receive(), "nanos");
			assertThat(entered).isGreaterThan(left);
			assertThatIllegalStateException().isThrownBy(() -> one.call(Job.LEAVE.order(Subject.DBLOCK)))
				.withMessageContaining("Nothing was entered");
			other.call(Job.LEAVE.order(Subject.DBLOCK));
		}
	}

	@Test
	void serversTellWhatTheyHaveReceived(MongoServer server) {
		MongoCollection<Document> documents = server.client()
			.getDatabase(server.freshDatabase())
			.getCollection("counted");
		try (ServerCounters counters = new ServerCounters(addresses(server))) {
			long before = counters.count("findAndModify");
			for (int i = 0; i < 3; i++) {
				documents.findOneAndDelete(new Document("_id", i));
			}
			documents.deleteOne(new Document("_id", 3));
			assertThat(counters.count("findAndModify") - before).isEqualTo(3);
		}
	}

	private static Addresses addresses(MongoServer server) {
		return new Addresses(server.uri(), server.freshDatabase(), null);
	}

	/**
	 * A case with one result, or none.
	 */
	private record OneLine(String id, Line line) implements BenchmarkCase {

		@Override
		public String title() {
			return "broken";
		}

		@Override
		public List<Line> run(Bench bench) {
			if (this.line == null) {
				throw new IllegalStateException("broken");
			}
			assertThat(this.line.verdict()).isNotEqualTo(Verdict.MISSING);
			return List.of(this.line);
		}

	}

}
