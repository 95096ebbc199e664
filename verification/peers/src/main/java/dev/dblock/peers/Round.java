package dev.dblock.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.quartz.Scheduler;

/**
 * Three instances, whose clocks are right, ahead and behind, for forty seconds.
 */
final class Round {

	static final Duration WINDOW = Duration.ofSeconds(40);

	/** Until each peer has elected whom it elects, and polls. */
	private static final Duration SETTLING = Duration.ofSeconds(20);

	/** Peers that poll rarely run the last planned times later. */
	private static final Duration ENDING = Duration.ofSeconds(17);

	private final Path faketime;

	private final String mongodb;

	private final String postgresql;

	Round(Path faketime, String mongodb, String postgresql) {
		this.faketime = faketime;
		this.mongodb = mongodb;
		this.postgresql = postgresql;
	}

	/**
	 * Run the peers.
	 * @param skew how far the clocks differ
	 * @param database the name of a new database of MongoDB
	 * @return what they did
	 */
	Results run(Duration skew, String database) throws InterruptedException, IOException, SQLException {
		createTables();
		ConcurrentLinkedQueue<Run> runs = new ConcurrentLinkedQueue<>();
		List<Process> processes = new ArrayList<>();
		try {
			// One after the other, since some peers create their tables at the first
			// start.
			for (Duration ahead : List.of(Duration.ZERO, skew, skew.negated())) {
				String name = "instance" + processes.size();
				CountDownLatch started = new CountDownLatch(1);
				Process process = start(name, ahead, database);
				processes.add(process);
				new Thread(() -> read(process, ahead, runs, started), name).start();
				if (!started.await(3, TimeUnit.MINUTES)) {
					throw new IllegalStateException(name + " did not start, see above");
				}
			}
			long period = Duration.ofSeconds(5).toMillis();
			long settled = System.currentTimeMillis() + SETTLING.plus(skew).toMillis();
			long from = Math.floorDiv(settled, period) * period + period;
			long to = from + WINDOW.toMillis();
			Thread.sleep(to + skew.plus(ENDING).toMillis() - System.currentTimeMillis());
			if (!processes.stream().allMatch(Process::isAlive)) {
				throw new IllegalStateException("an instance has ended, see above");
			}
			return new Results(from, to, List.copyOf(runs));
		}
		finally {
			for (Process process : processes) {
				process.destroyForcibly().waitFor();
			}
		}
	}

	private Process start(String name, Duration ahead, String database) throws IOException {
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
				Instance.class.getName(), name, Long.toString(ahead.toMillis()),
				this.mongodb.replaceFirst("/\\?|/?$", "/" + database + "?"), this.postgresql);
		if (!ahead.isZero()) {
			builder.environment()
				.putAll(Map.of("LD_PRELOAD", this.faketime.toString(), "FAKETIME",
						String.format(Locale.ROOT, "%+.3fs", ahead.toMillis() / 1000.0), "FAKETIME_DONT_FAKE_MONOTONIC",
						"1", "FAKETIME_FORCE_MONOTONIC_FIX", "0"));
		}
		return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
	}

	private static void read(Process process, Duration ahead, ConcurrentLinkedQueue<Run> runs, CountDownLatch started) {
		try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				if (line.startsWith(Instance.CLOCK)) {
					check(ahead, Long.parseLong(line.substring(Instance.CLOCK.length())));
				}
				else if (line.equals(Instance.STARTED)) {
					started.countDown();
				}
				Run.parse(line).ifPresent(runs::add);
			}
		}
		catch (IOException ex) {
			// The process was ended.
			if (process.isAlive()) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	private static void check(Duration ahead, long clock) {
		long difference = clock - System.currentTimeMillis();
		// The line was read some time after it was written.
		if (difference > ahead.toMillis() + 10 || difference < ahead.toMillis() - 300) {
			System.err.println("peers: the clock of an instance is " + difference + " ms ahead, and should be "
					+ ahead.toMillis() + " ms ahead: libfaketime has no effect, or this machine is very busy");
		}
	}

	private void createTables() throws IOException, SQLException {
		try (Connection connection = DriverManager.getConnection(this.postgresql);
				Statement statement = connection.createStatement()) {
			statement.execute("drop schema public cascade");
			statement.execute("create schema public");
			try (InputStream quartz = Scheduler.class
				.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_postgres.sql")) {
				if (quartz == null) {
					throw new IllegalStateException("Quartz has no tables for PostgreSQL");
				}
				statement.execute(new String(quartz.readAllBytes(), StandardCharsets.UTF_8));
			}
			for (String table : List.of(DbSchedulerPeer.TABLE, DbSchedulerPeer.TABLE_POLLING)) {
				statement.execute("""
						create table %1$s (task_name text not null, task_instance text not null, task_data bytea,
							execution_time timestamp with time zone not null, picked boolean not null, picked_by text,
							last_success timestamp with time zone, last_failure timestamp with time zone,
							consecutive_failures int, last_heartbeat timestamp with time zone, version bigint not null,
							priority smallint, state text, primary key (task_name, task_instance));
						create index %1$s_execution_time on %1$s (execution_time);
						create index %1$s_last_heartbeat on %1$s (last_heartbeat);
						create index %1$s_priority on %1$s (priority desc, execution_time asc)
						""".formatted(table));
			}
		}
	}

}
