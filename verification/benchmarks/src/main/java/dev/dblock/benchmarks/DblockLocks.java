package dev.dblock.benchmarks;

import java.time.Duration;

import com.mongodb.client.MongoClient;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * Locks of dblock as an application uses them: through the auto-configuration, with all
 * defaults. Set {@code dblock.*} as system properties to try other settings.
 */
final class DblockLocks implements Locks {

	private static final LockOptions WAITING = LockOptions.defaults().waitUpTo(Duration.ofMinutes(10));

	private static final LockOptions AT_ONCE = LockOptions.defaults().waitUpTo(Duration.ZERO);

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final LockTemplate template;

	/**
	 * Start an application.
	 * @param client its client, which this class does not close
	 * @param database its database
	 * @param beans classes of additional beans
	 */
	DblockLocks(MongoClient client, String database, Class<?>... beans) {
		this.context.registerBean(MongoDatabaseFactory.class,
				() -> new SimpleMongoClientDatabaseFactory(client, database));
		this.context.register(DblockAutoConfiguration.class, DblockAopAutoConfiguration.class);
		for (Class<?> bean : beans) {
			this.context.registerBean(bean);
		}
		this.context.refresh();
		this.template = this.context.getBean(LockTemplate.class);
	}

	LockTemplate template() {
		return this.template;
	}

	<T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	@Override
	public Section enter(String name) {
		return new Held(this.template.acquire(name, WAITING));
	}

	@Override
	public @Nullable Section tryEnter(String name) {
		return this.template.tryAcquire(name, AT_ONCE).map(Held::new).orElse(null);
	}

	@Override
	public void close() {
		this.context.close();
	}

	/**
	 * Section under a lock.
	 *
	 * @param handle the handle of the lock
	 */
	private record Held(LockHandle handle) implements Section {

		@Override
		public long token() {
			return this.handle.token();
		}

		@Override
		public void leave() {
			this.handle.close();
		}

	}

}
