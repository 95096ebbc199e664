package dev.dblock.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/**
 * A process that runs the jobs of all peers, until its standard input ends.
 */
final class Instance {

	/** The line for the time by its own clock, in milliseconds since the epoch. */
	static final String CLOCK = "clock\t";

	static final String STARTED = "started";

	private Instance() {
	}

	/**
	 * Run an instance.
	 * @param arguments its name, how far its clock is ahead in milliseconds, and the
	 * connection strings of MongoDB and PostgreSQL
	 */
	public static void main(String[] arguments) {
		String name = arguments[0];
		System.out.println(CLOCK + System.currentTimeMillis());
		Recorder recorder = new Recorder(Long.parseLong(arguments[1]));
		String mongodb = arguments[2];
		String postgresql = arguments[3];

		try {
			start(recorder, name, mongodb, postgresql);
			System.out.println(STARTED);
			while (System.in.read() >= 0) {
				continue;
			}
			Runtime.getRuntime().halt(0);
		}
		catch (Exception ex) {
			// The threads of a peer would keep it alive.
			ex.printStackTrace(System.err);
			Runtime.getRuntime().halt(1);
		}
	}

	private static void start(Recorder recorder, String name, String mongodb, String postgresql) throws Exception {
		DblockPeer.start(recorder, mongodb);
		ShedLockPeer.start(recorder, mongodb);
		QuartzPeer.start(recorder, name, postgresql);
		DbSchedulerPeer.start(recorder, name, dataSource(postgresql));
		JobRunrPeer.start(recorder, name, dataSource(postgresql));
	}

	private static HikariDataSource dataSource(String postgresql) {
		HikariConfig configuration = new HikariConfig();
		configuration.setJdbcUrl(postgresql);
		configuration.setMaximumPoolSize(10);
		configuration.setMinimumIdle(2);
		return new HikariDataSource(configuration);
	}

}
