package dev.dblock.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import org.bson.Document;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link ServerSources}.
 */
class ServerSourcesTests {

	private static final BooleanSupplier DOCKER = () -> true;

	private static final BooleanSupplier NO_DOCKER = () -> false;

	@TempDir
	private Path folder;

	@ParameterizedTest
	@EnumSource(names = { "STANDALONE", "REPLICA_SET_1", "REPLICA_SET_3" })
	void withoutAServerATestThatNeedsARealOneIsSkipped(MongoServerKind kind) {
		ServerDemand demand = new ServerDemand(kind, false, false);
		assertThat(new ServerSources(Map.of("PATH", this.folder.toString()), NO_DOCKER).find(demand)).isEmpty();
		assertThat(ServerSources.reasonToSkip(demand)).startsWith("needs a real MongoDB server (" + kind + ")")
			.contains("DBLOCK_TEST_MONGOD ", "DBLOCK_TEST_MONGODB_URI");
	}

	@Test
	void withoutAServerATestOfFaultsIsSkipped() {
		ServerDemand demand = new ServerDemand(MongoServerKind.ANY, false, true);
		assertThat(new ServerSources(Map.of(), DOCKER).find(demand)).isEmpty();
		assertThat(ServerSources.reasonToSkip(demand)).contains("started by the test")
			.doesNotContain("DBLOCK_TEST_MONGODB_URI");
	}

	@Test
	void withoutAServerTheEmbeddedOneServesAllOtherDemands() {
		ServerDemand demand = new ServerDemand(MongoServerKind.ANY, false, false);
		assertThat(new ServerSources(Map.of(), NO_DOCKER).find(demand)).get()
			.extracting(ServerSources.Source::name)
			.isEqualTo("embedded");
	}

	@Test
	void binaryOnThePathComesBeforeDocker() throws IOException {
		Path binary = Files.createFile(this.folder.resolve("mongod"));
		ServerSources sources = new ServerSources(Map.of("PATH", "/nowhere:" + this.folder), DOCKER);
		ServerDemand demand = new ServerDemand(MongoServerKind.ANY, false, false);
		assertThat(sources.find(demand)).get()
			.extracting(ServerSources.Source::name)
			.isEqualTo("a container as REPLICA_SET_1");
		assertThat(binary.toFile().setExecutable(true)).isTrue();
		assertThat(sources.find(demand)).get()
			.extracting(ServerSources.Source::name)
			.isEqualTo("mongod as REPLICA_SET_1");
	}

	@Test
	void dockerServesNoReplicaSetOfThree() {
		ServerDemand demand = new ServerDemand(MongoServerKind.REPLICA_SET_3, false, false);
		assertThat(new ServerSources(Map.of(), DOCKER).find(demand)).isEmpty();
	}

	@Test
	void binaryThatIsNoneIsAnErrorNotASkip() {
		ServerSources sources = new ServerSources(Map.of("DBLOCK_TEST_MONGOD", this.folder.resolve("none").toString()),
				NO_DOCKER);
		assertThatIllegalStateException()
			.isThrownBy(() -> sources.find(new ServerDemand(MongoServerKind.ANY, false, false)))
			.withMessageContaining("DBLOCK_TEST_MONGOD names");
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void serverInTheEnvironmentComesFirstForTheTestsThatItSuits(MongoServer server) {
		try (ServerSources sources = new ServerSources(Map.of("DBLOCK_TEST_MONGODB_URI", server.uri()), DOCKER)) {
			assertThat(name(sources, MongoServerKind.ANY, false)).startsWith("the server named by");
			assertThat(name(sources, MongoServerKind.REPLICA_SET_1, false)).startsWith("the server named by");
			assertThat(name(sources, MongoServerKind.STANDALONE, false)).isEqualTo("a container as STANDALONE");
			assertThat(name(sources, MongoServerKind.ANY, true)).isEqualTo("a container as REPLICA_SET_1");
		}
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE, faults = true)
	void serverHasTheFeatureCompatibilityVersionOfTheEnvironment(MongoServer server) {
		String version = admin(server.client()).runCommand(new Document("buildInfo", 1)).getString("version");
		String before = Map.of("4.4", "4.2", "5.0", "4.4", "6.0", "5.0").get(version.substring(0, 3));
		Assumptions.assumeTrue(before != null, "the version before " + version + " is not known");
		Map<String, String> environment = new HashMap<>(System.getenv());
		environment.put(ServerSources.FCV_VARIABLE, before);
		ServerDemand demand = new ServerDemand(MongoServerKind.STANDALONE, true, true);
		try (ServerSources sources = new ServerSources(environment, NO_DOCKER);
				Deployment started = sources.find(demand).orElseThrow().start().get()) {
			Document parameters = admin(started.client())
				.runCommand(new Document("getParameter", 1).append("featureCompatibilityVersion", 1));
			assertThat(parameters.get("featureCompatibilityVersion", Document.class)).containsEntry("version", before);
		}
	}

	private static MongoDatabase admin(MongoClient client) {
		return client.getDatabase("admin");
	}

	@Test
	void externalServerIsKnownByItsHello() {
		assertThat(ExternalDeployment.kind(Document.parse("{ msg: 'isdbgrid' }"))).isEqualTo(MongoServerKind.ANY);
		assertThat(ExternalDeployment.kind(Document.parse("{}"))).isEqualTo(MongoServerKind.STANDALONE);
		assertThat(ExternalDeployment.kind(Document.parse("{ setName: 'a', hosts: ['b:1'] }")))
			.isEqualTo(MongoServerKind.REPLICA_SET_1);
		assertThat(ExternalDeployment.kind(Document.parse("{ setName: 'a', hosts: ['b:1', 'c:1', 'd:1'] }")))
			.isEqualTo(MongoServerKind.REPLICA_SET_3);
	}

	@Test
	void databaseIsPutIntoTheConnectionString() {
		assertThat(ConnectionStrings.withDatabase("mongodb://a:1,b:2", "db")).isEqualTo("mongodb://a:1,b:2/db");
		assertThat(ConnectionStrings.withDatabase("mongodb://a:1/?replicaSet=x", "db"))
			.isEqualTo("mongodb://a:1/db?replicaSet=x");
		assertThat(ConnectionStrings.withDatabase("mongodb://user:secret@a:1/users?w=1", "db"))
			.isEqualTo("mongodb://user:secret@a:1/db?w=1&authSource=users");
		assertThat(ConnectionStrings.withDatabase("mongodb://user:secret@a:1/?authSource=users", "db"))
			.isEqualTo("mongodb://user:secret@a:1/db?authSource=users");
	}

	private static String name(ServerSources sources, MongoServerKind kind, boolean fresh) {
		return sources.find(new ServerDemand(kind, fresh, false)).orElseThrow().name();
	}

}
