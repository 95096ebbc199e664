package dev.dblock;

import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.annotation.EnableDistributedLocks;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * An application without the module of the jobs, see {@link ModulesTests}. Its arguments
 * are the address of a server and a database, in which jobs have run.
 */
final class WithoutJobs {

	private WithoutJobs() {
	}

	public static void main(String[] arguments) {
		try (MongoClient client = MongoClients.create(arguments[0])) {
			MongoDatabaseFactory mongo = new SimpleMongoClientDatabaseFactory(client, arguments[1]);
			for (StatementDialect dialect : List.of(StatementDialect.PIPELINE, StatementDialect.CLASSIC)) {
				MongoLockSettings usual = MongoLockSettings.defaults();
				MongoLockRepository repository = new MongoLockRepository(mongo, new MongoLockSettings(
						usual.collection(), usual.clockAllowance(), usual.retention(), usual.timeout(), dialect, true));
				try (DefaultLockEngine engine = new DefaultLockEngine(repository, EngineSettings.defaults("without"),
						List.of())) {
					use(new DefaultLockTemplate(engine), dialect.name());
				}
			}
			try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
				context.registerBean(MongoDatabaseFactory.class, () -> mongo);
				context.register(Locks.class);
				context.refresh();
				print("annotated: " + context.getBean(Report.class).create());
			}
		}
	}

	private static void use(LockTemplate locks, String dialect) {
		for (String name : List.of("plain", "ran")) {
			boolean held = locks.execute(name, () -> locks.inspect(name).orElseThrow().held());
			print(dialect + (name.equals("ran") ? ", of a job: " : ": ") + held);
		}
		for (String name : List.of("plain", "ran")) {
			try (LockHandle handle = locks.acquire(name)) {
				print(dialect + ", by force: " + locks.forceReleaseNow(handle.name()));
			}
			catch (LockLostException ex) {
				print(dialect + ", lost");
			}
		}
		try {
			locks.forceReleaseNow("runs");
		}
		catch (InvalidDataAccessApiUsageException ex) {
			print(dialect + ", refused" + (ex.getMessage().contains("Add dblock-jobs") ? "" : ": " + ex));
		}
	}

	private static void print(String line) {
		System.out.println("> " + line);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class Locks {

		@Bean
		DefaultLockEngine lockEngine(MongoDatabaseFactory mongo) {
			return new DefaultLockEngine(new MongoLockRepository(mongo, MongoLockSettings.defaults()),
					EngineSettings.defaults("without"), List.of());
		}

		@Bean
		Report report() {
			return new Report();
		}

	}

	static class Report {

		@DistributedLock(name = "report")
		String create() {
			return LockContext.current().orElseThrow().name();
		}

	}

}
