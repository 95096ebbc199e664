package dev.dblock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import dev.dblock.DistributedLock;
import dev.dblock.LockNamePrefix;
import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.settings.EngineSettingsCustomizer;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.mongodb.autoconfigure.MongoClientFactory;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.transaction.annotation.Transactional;

/**
 * The Java of {@code docs/configuration.md}.
 */
class ConfigurationSnippets {

	@Bean
	LockNamePrefix tenantPrefix() {
		return (name) -> name.startsWith("global-") ? "" : Tenant.current() + ":";
	}

	@Bean
	EngineSettingsCustomizer podName(PodInfo pod) {
		return (settings) -> settings.withAcquirer(pod.name());
	}

	@Bean
	MongoLockSettingsCustomizer orderLocks() {
		return (databaseFactory, settings) -> databaseFactory.equals("ordersDatabaseFactory")
				? settings.withCollection("order_locks") : settings;
	}

	@Bean(defaultCandidate = false)
	MongoClient lockClient(MongoClientSettings settings,
			ObjectProvider<MongoClientSettingsBuilderCustomizer> customizers) {
		List<MongoClientSettingsBuilderCustomizer> all = new ArrayList<>(customizers.orderedStream().toList());
		all.add((client) -> client.applyToConnectionPoolSettings((pool) -> pool.minSize(0).maxSize(43)));
		return new MongoClientFactory(all).createMongoClient(settings);
	}

	@Bean(defaultCandidate = false)
	MongoDatabaseFactory lockDatabaseFactory(@Qualifier("lockClient") MongoClient client) {
		return new SimpleMongoClientDatabaseFactory(client, "shop");
	}

	interface Orders {

		void settle(String id);

	}

	record PodInfo(String name) {
	}

	static final class Tenant {

		private Tenant() {
		}

		static String current() {
			return "acme";
		}

	}

	static class Settlement {

		private final Orders orders;

		Settlement(Orders orders) {
			this.orders = orders;
		}

		@DistributedLock(name = "order-#{#id}", databaseFactory = "ordersDatabaseFactory")
		@Transactional("ordersTransactionManager")
		public void settle(String id) {
			this.orders.settle(id);
		}

	}

	static class Shipping {

		private final LockTemplate locks;

		Shipping(LockTemplates templates) {
			this.locks = templates.on("ordersDatabaseFactory");
		}

		LockTemplate locks() {
			return this.locks;
		}

	}

	static class ForTenants {

		@Bean(defaultCandidate = false)
		MongoDatabaseFactory lockDatabaseFactory(MongoClient client) {
			return new SimpleMongoClientDatabaseFactory(client, "locks");
		}

	}

}
