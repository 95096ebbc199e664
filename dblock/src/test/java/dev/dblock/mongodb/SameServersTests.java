package dev.dblock.mongodb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.ReactiveMongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nothing listens where these clients try to connect to, and no request is sent.
 */
class SameServersTests {

	private final List<MongoClient> clients = new ArrayList<>();

	@AfterEach
	void close() {
		this.clients.forEach(MongoClient::close);
	}

	private MongoClient client(String hosts) {
		MongoClient client = MongoClients.create("mongodb://" + hosts + "/?serverSelectionTimeoutMS=1");
		this.clients.add(client);
		return client;
	}

	private static MongoDatabaseFactory factory(MongoClient client, String database) {
		return new SimpleMongoClientDatabaseFactory(client, database);
	}

	private static LockDatabase locks(MongoDatabaseFactory factory) {
		return new LockDatabase(factory);
	}

	private static MongoDatabaseFactory withoutSessions() {
		return Mockito.mock(MongoDatabaseFactory.class, (call) -> {
			throw new UnsupportedOperationException();
		});
	}

	@Test
	void factoriesOfOneClientLeadToTheSameServers() {
		MongoClient client = client("localhost:1");
		assertThat(SameServers.areOf(factory(client, "one"), locks(factory(client, "other")))).isTrue();
	}

	@Test
	void clientsThatHaveAServerInCommonLeadToTheSameServers() {
		assertThat(SameServers.areOf(factory(client("localhost:1,localhost:2"), "one"),
				locks(factory(client("localhost:2,localhost:3"), "one"))))
			.isTrue();
	}

	@Test
	void clientsOfOtherServersDoNot() {
		assertThat(
				SameServers.areOf(factory(client("localhost:1"), "one"), locks(factory(client("localhost:2"), "one"))))
			.isFalse();
	}

	@Test
	void factoryThatDoesNotShowItsClientLeadsOnlyToItsOwnServers() {
		MongoDatabaseFactory closed = withoutSessions();
		assertThat(SameServers.areOf(closed, locks(closed))).isTrue();
		assertThat(SameServers.areOf(closed, locks(factory(client("localhost:1"), "one")))).isFalse();
		assertThat(SameServers.areOf(factory(client("localhost:1"), "one"), locks(closed))).isFalse();
	}

	@Test
	void clientReachesTheServersOfAFactoryOrDoesNot() {
		MongoClient locks = locks(factory(client("localhost:1"), "one")).client();
		assertThat(SameServers.areOf(client("localhost:1,localhost:2").getClusterDescription(), locks)).isTrue();
		assertThat(SameServers.areOf(client("localhost:2").getClusterDescription(), locks)).isFalse();
		assertThat(SameServers.areOf(client("localhost:1").getClusterDescription(), locks(withoutSessions()).client()))
			.isFalse();
	}

	@Test
	void reactiveTransactionOfAnotherStoreIsNotFenced() {
		MongoLockRepository repository = new MongoLockRepository(factory(client("localhost:1"), "one"), settings(true));
		TransactionContext elsewhere = Mockito.mock(TransactionContext.class);
		Mockito.when(elsewhere.getResources()).thenReturn(Map.of("a connection factory", "a connection"));
		assertThat(repository.fenceFor(elsewhere)).isNull();
		ReactiveMongoDatabaseFactory unbound = Mockito.mock(ReactiveMongoDatabaseFactory.class);
		Mockito.when(elsewhere.getResources()).thenReturn(Map.of(unbound, "nothing that has a session"));
		assertThat(repository.fenceFor(elsewhere)).isNull();
	}

	@Test
	void onlyTransactionsOnTheServersOfTheLocksAreFenced() {
		MongoDatabaseFactory locks = factory(client("localhost:1"), "one");
		MongoLockRepository repository = new MongoLockRepository(locks, settings(true));
		assertThat(repository.fenceFor(new MongoTransactionManager(locks))).isNotNull();
		assertThat(repository.fenceFor(new MongoTransactionManager(factory(client("localhost:2"), "one")))).isNull();
		assertThat(repository.fenceFor(new MongoTransactionManager())).isNull();
		assertThat(repository.fenceFor(Mockito.mock(PlatformTransactionManager.class))).isNull();
		assertThat(new MongoLockRepository(locks, settings(false)).fenceFor(new MongoTransactionManager(locks)))
			.isNull();
	}

	private static MongoLockSettings settings(boolean fenceTransactions) {
		return new MongoLockSettings("locks", Duration.ZERO, Duration.ofDays(1), Duration.ofSeconds(1),
				StatementDialect.AUTO, true, fenceTransactions);
	}

}
