package dev.dblock.autoconfigure;

import dev.dblock.DistributedLock;
import dev.dblock.LockNamePrefix;
import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.settings.EngineSettingsCustomizer;

import org.springframework.context.annotation.Bean;
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

}
