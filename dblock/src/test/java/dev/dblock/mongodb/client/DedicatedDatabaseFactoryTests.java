package dev.dblock.mongodb.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoDriverInformation;
import com.mongodb.ServerAddress;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.ClusterListener;
import com.mongodb.event.ClusterOpeningEvent;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.request.StatementDialect;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link DedicatedDatabaseFactory}.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
class DedicatedDatabaseFactoryTests {

	private static final MongoDriverInformation DRIVER = MongoDriverInformation.builder().build();

	private final AtomicInteger clients = new AtomicInteger();

	private MongoReplicaSet server;

	private MongoClient client;

	private MongoDatabaseFactory application;

	@BeforeEach
	void start(MongoReplicaSet server) {
		this.server = server;
		this.client = MongoClients.create(server.uri());
		this.application = new SimpleMongoClientDatabaseFactory(this.client, server.freshDatabase());
	}

	@AfterEach
	void stop() {
		this.client.close();
	}

	private MongoClientSettings.Builder settings() {
		ClusterListener listener = new ClusterListener() {

			@Override
			public void clusterOpening(ClusterOpeningEvent event) {
				DedicatedDatabaseFactoryTests.this.clients.incrementAndGet();
			}

		};
		return MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(this.server.uri()))
			.applyToConnectionPoolSettings((pool) -> pool.minSize(3).maxSize(200))
			.applyToClusterSettings((cluster) -> cluster.addClusterListener(listener));
	}

	// The driver reports its clients on a thread of its own.
	private void assertClients(int number) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(this.clients).hasValue(number));
	}

	private DedicatedDatabaseFactory dedicated(MongoClientSettings settings) {
		return new DedicatedDatabaseFactory(this.application, settings, DRIVER);
	}

	@Test
	void hasTheApplicationsSettingsButAPoolAndANameOfItsOwn() {
		MongoClientSettings settings = settings().applicationName("shop").retryWrites(false).build();
		assertThat(dedicated(settings).settings()).isEqualTo(MongoClientSettings.builder(settings)
			.applicationName("shop-dblock")
			.applyToConnectionPoolSettings((pool) -> pool.minSize(0).maxSize(DedicatedDatabaseFactory.MOST_CONNECTIONS))
			.build());
		assertThat(dedicated(settings().build()).settings().getApplicationName()).isEqualTo("dblock");
	}

	@Test
	void longNameIsCutToWhatTheServerTakes() {
		String name = dedicated(settings().applicationName("ä".repeat(64)).build()).settings().getApplicationName();
		assertThat(name).isEqualTo("ä".repeat(60) + "-dblock");
	}

	@Test
	void clientIsMadeAtTheFirstUseAndServesTheSameDatabase() {
		try (DedicatedDatabaseFactory factory = dedicated(settings().build())) {
			MongoLockRepository locks = repository(factory);
			assertThat(this.clients).hasValue(0);
			assertThat(locks.find("stock")).isEmpty();
			locks.releases();
			assertClients(1);
			factory.getMongoDatabase().getCollection("orders").insertOne(new Document());
			assertThat(this.application.getMongoDatabase().getCollection("orders").countDocuments()).isOne();
			assertThat(factory.getMongoDatabase("other").getName()).isEqualTo("other");
			assertClients(1);
		}
	}

	@Test
	void sessionIsOneOfItsOwnClient() {
		try (DedicatedDatabaseFactory factory = dedicated(settings().build());
				ClientSession session = factory.getSession(ClientSessionOptions.builder().build())) {
			factory.withSession(session).getMongoDatabase().getCollection("orders").insertOne(new Document());
			assertThat(session.getOperationTime()).isNotNull();
		}
	}

	@Test
	void electionIsSeen() {
		try (DedicatedDatabaseFactory factory = dedicated(settings().build())) {
			Topology topology = new Topology(factory);
			factory.getMongoDatabase().listCollectionNames().first();
			Object before = topology.get();
			this.server.stepDown(60);
			this.server.awaitPrimary();
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(topology.get()).isNotEqualTo(before));
		}
	}

	@Test
	void closedClientIsAnErrorOfTheStoreWhetherItWasUsedOrNot() {
		DedicatedDatabaseFactory used = dedicated(settings().build());
		used.getMongoDatabase().listCollectionNames().first();
		for (DedicatedDatabaseFactory factory : List.of(used, dedicated(settings().build()))) {
			factory.close();
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> repository(factory).find("stock"))
				.withMessageContaining("closed");
		}
		assertClients(1);
	}

	@Test
	void settingsThatLeadElsewhereAreRefused() {
		MongoClientSettings elsewhere = settings()
			.applyToClusterSettings((cluster) -> cluster.hosts(List.of(new ServerAddress("127.0.0.1", 1))))
			.build();
		assertThatIllegalArgumentException().isThrownBy(() -> dedicated(elsewhere))
			.withMessageContaining("127.0.0.1:1");
		MongoClientSettings looked = MongoClientSettings.builder()
			.applyToClusterSettings((cluster) -> cluster.srvHost("db.example.com"))
			.build();
		assertThatIllegalArgumentException().isThrownBy(() -> dedicated(looked))
			.withMessageContaining("db.example.com");
	}

	@Test
	void settingsThatFindTheServersInAnotherWayAreRefused() {
		MongoClientSettings other = settings()
			.applyToClusterSettings((cluster) -> cluster.requiredReplicaSetName("other"))
			.build();
		assertThatIllegalArgumentException().isThrownBy(() -> dedicated(other))
			.withMessageContaining("requiredReplicaSetName='other'");
	}

	@Test
	void settingsThatTakeOneServerForAllAreRefused() {
		String one = "mongodb://127.0.0.1:1/?directConnection=";
		try (MongoClient direct = MongoClients.create(one + true)) {
			this.application = new SimpleMongoClientDatabaseFactory(direct, "shop");
			MongoClientSettings whole = MongoClientSettings.builder()
				.applyConnectionString(new ConnectionString(one + false))
				.build();
			assertThatIllegalArgumentException().isThrownBy(() -> dedicated(whole)).withMessageContaining("MULTIPLE");
		}
	}

	@Test
	void settingsThatLogInAsAnotherUserAreRefused() {
		MongoClientSettings other = settings()
			.credential(MongoCredential.createCredential("ops", "admin", "secret".toCharArray()))
			.build();
		assertThatIllegalArgumentException().isThrownBy(() -> dedicated(other))
			.withMessageContaining("as no user")
			.withMessageContaining("as 'ops' of 'admin'");
	}

	@Test
	void clientIsNotCreatedToCheckTheNamesOfTheCollections() {
		DedicatedDatabaseFactory factory = dedicated(settings().build());
		assertThatIllegalArgumentException().isThrownBy(() -> repository(factory, "l".repeat(250)))
			.withMessageContaining("'%s'".formatted(this.application.getMongoDatabase().getName()));
		factory.close();
		assertThat(this.clients).hasValue(0);
	}

	@Test
	void factoryThatDoesNotShowItsClientIsRefused() {
		this.application = Mockito.mock(MongoDatabaseFactory.class);
		assertThatIllegalArgumentException().isThrownBy(() -> dedicated(settings().build()))
			.withMessageContaining("does not show");
	}

	private static MongoLockRepository repository(MongoDatabaseFactory factory) {
		return repository(factory, "locks");
	}

	private static MongoLockRepository repository(MongoDatabaseFactory factory, String collection) {
		return new MongoLockRepository(factory, new MongoLockSettings(collection, Duration.ofMillis(500),
				Duration.ofDays(1), Duration.ofSeconds(60), StatementDialect.AUTO, true));
	}

}
