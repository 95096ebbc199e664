#!/usr/bin/env bash
#
# JobRunr 8.7.0 with H2 2.3.232: after a pause of its process, the missed runs of a recurring job all run at the same
# time, or only one run takes place. It depends on the moment at which the pause began.
#
# A job recurs every ten seconds, and a run takes one second. The process is stopped for 30 s, as when its virtual
# machine is suspended. Seen: if no run was scheduled when it was stopped, as in the seconds after a run, three or more
# runs are in progress at the same time after the pause. If one was scheduled ahead, only that one takes place.
#
# What one would expect: the same in both cases, and never two runs at the same time. The documentation says that
# recurring jobs that were missed during downtime are skipped, and that a recurring job does not run concurrently with
# itself if its interval is longer than the poll interval, which is 5 s here.
#
# Needs JDK 17 or later and Maven, on Linux. Fails if JobRunr behaves differently.

set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/Probe.java" <<'JAVA'
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.h2.jdbcx.JdbcConnectionPool;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.scheduling.BackgroundJob;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.JobStats;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;

public class Probe {

	private static final List<Instant> begun = new CopyOnWriteArrayList<>();

	private static final AtomicInteger inProgress = new AtomicInteger();

	private static final AtomicInteger mostInProgress = new AtomicInteger();

	public static void run() throws InterruptedException {
		begun.add(Instant.now());
		mostInProgress.accumulateAndGet(inProgress.incrementAndGet(), Math::max);
		Thread.sleep(1000);
		inProgress.decrementAndGet();
	}

	public static void main(String[] args) throws Exception {
		boolean scheduledAhead = args[0].equals("ahead");
		DataSource dataSource = JdbcConnectionPool.create("jdbc:h2:mem:jobs;DB_CLOSE_DELAY=-1", "sa", "");
		StorageProvider storage = SqlStorageProviderFactory.using(dataSource);
		JobRunr.configure()
			.useStorageProvider(storage)
			.useBackgroundJobServer(BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
				.andPollInterval(Duration.ofSeconds(5)))
			.initialize();
		BackgroundJob.scheduleRecurrently("each-ten-seconds", "*/10 * * * * *", () -> Probe.run());
		await(storage, scheduledAhead);
		int before = begun.size();
		int overlapsBefore = mostInProgress.get();
		long pid = ProcessHandle.current().pid();
		new ProcessBuilder("sh", "-c", "kill -STOP " + pid + "; sleep 30; kill -CONT " + pid).start().waitFor();
		for (int i = 0; i < 200 && begun.size() == before; i++) {
			TimeUnit.MILLISECONDS.sleep(100);
		}
		TimeUnit.MILLISECONDS.sleep(1500);
		System.out.printf("stopped %s: %s, at the same time: %s (before: %s)%n",
				scheduledAhead ? "with a run ahead" : "after a run", number(begun.size() - before) + " after the pause",
				number(mostInProgress.get()), overlapsBefore);
		System.exit(0);
	}

	private static String number(int runs) {
		return (runs >= 3) ? "3 or more" : "" + runs;
	}

	private static void await(StorageProvider storage, boolean scheduledAhead) throws InterruptedException {
		while (true) {
			JobStats stats = storage.getJobStats();
			if (!begun.isEmpty() && inProgress.get() == 0 && stats.getEnqueued() + stats.getProcessing() == 0
					&& (stats.getScheduled() > 0) == scheduledAhead) {
				return;
			}
			TimeUnit.MILLISECONDS.sleep(50);
		}
	}

}
JAVA

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>findings</groupId>
  <artifactId>jobrunr-missed-runs-at-once</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.jobrunr</groupId>
      <artifactId>jobrunr</artifactId>
      <version>8.7.0</version>
    </dependency>
    <dependency>
      <groupId>com.google.code.gson</groupId>
      <artifactId>gson</artifactId>
      <version>2.13.2</version>
    </dependency>
    <dependency>
      <groupId>com.h2database</groupId>
      <artifactId>h2</artifactId>
      <version>2.3.232</version>
    </dependency>
  </dependencies>
</project>
POM
mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib" \
    </dev/null >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
javac -cp "$work/lib/*" -d "$work/classes" "$work/Probe.java"
echo "JobRunr 8.7.0"
java -cp "$work/classes:$work/lib/*" Probe ahead >"$work/ahead" 2>"$work/errors-ahead" &
ahead=$!
java -cp "$work/classes:$work/lib/*" Probe after >"$work/after" 2>"$work/errors-after" || cat "$work/errors-after"
wait "$ahead" || cat "$work/errors-ahead"
seen=$(cat "$work/after" "$work/ahead")
printf '%s\n' "$seen"
[[ $seen == "stopped after a run: 3 or more after the pause, at the same time: 3 or more (before: 1)
stopped with a run ahead: 1 after the pause, at the same time: 1 (before: 1)" ]] || {
    tail -n 20 "$work/errors-after" "$work/errors-ahead"
    echo "The behavior has changed."
    exit 1
}
