package dev.dblock.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Trials of the judge, each with a course of faults and with properties that make the
 * workers do more of what the trial needs.
 */
enum Trial {

	/**
	 * No faults.
	 */
	CALM(3, List.of(), (world) -> world.sleep(5000)),
	/**
	 * Holders are stopped for longer than their leases.
	 */
	STOPS(3, List.of("--faults.mix.longer=10"), Trial::stopEach),
	/**
	 * The same, with many writes by holders that are overtaken.
	 */
	WRITES(3,
			List.of("--faults.mix.slowly=30", "--faults.mix.writing=100", "--faults.mix.paused=30",
					"--faults.mix.writings=TRANSACTION"),
			Trial::stopWriters),
	/**
	 * Holders are stopped for longer than their leases, but not for longer than their
	 * extensions.
	 */
	EXTENSIONS(3, List.of("--faults.mix.extended=20"), Trial::stopEach),
	/**
	 * The clock of one worker is set ahead.
	 */
	CLOCK(3, List.of(), Trial::moveClockAhead),
	/**
	 * Answers to requests are delayed until the leases that they grant have expired. The
	 * driver does not retry an acquisition, so no server stores an answer for it.
	 */
	STORED_ANSWERS(3, List.of("--dblock.handoff.max-time=0", "--faults.mix.longer=5", "--faults.connect-seconds=8"),
			Trial::keepAnswers),
	/**
	 * Renewals arrive when the leases are over.
	 */
	LATE_RENEWALS(1, List.of("--faults.mix.longer=50"), Trial::delayRenewals);

	private final int workers;

	private final List<String> properties;

	private final FaultRun.Course course;

	Trial(int workers, List<String> properties, FaultRun.Course course) {
		this.workers = workers;
		this.properties = properties;
		this.course = course;
	}

	int workers() {
		return this.workers;
	}

	List<String> properties() {
		return this.properties;
	}

	void run(World world) throws Exception {
		this.course.run(world);
	}

	private static void stopEach(World world) throws InterruptedException {
		stopEach(world, 5000);
	}

	private static void stopEach(World world, long millis) throws InterruptedException {
		for (int worker : Stream.of(1, 2, 3, 1, 2, 3).toList()) {
			Faults.stopWorker(world, "worker stopped past lease", worker, millis);
			world.sleep(1000);
		}
	}

	/**
	 * Stop writers before their fence and before their commit, in turn. If no fence is
	 * sent, no writer is found before one. They are stopped for long enough that, even on
	 * a slow machine, another holder has not only acquired the lock but has also written.
	 */
	private static void stopWriters(World world) throws InterruptedException {
		for (int i = 0; i < 8; i++) {
			Faults.stopWriter(world, "writer stopped past lease", 7000, (i % 2 == 0) ? Moment.FENCE : Moment.COMMIT);
			world.sleep(1000);
		}
	}

	private static void moveClockAhead(World world) throws Exception {
		Fault fault = Faults.all(true)
			.stream()
			.filter((other) -> other.kind().equals("worker an hour ahead"))
			.findFirst()
			.orElseThrow();
		for (int i = 0; i < 3; i++) {
			fault.happen(world);
		}
	}

	private static void keepAnswers(World world) throws Exception {
		for (int worker : List.of(1, 2, 3, 1, 2, 3, 1, 2, 3)) {
			long begin = System.nanoTime();
			world.network().disturbWorker(worker, Network.Disturbance.lateAnswers(Duration.ofMillis(4500)));
			world.sleep(15000);
			world.network().healWorker(worker);
			world.log().add("answers kept", worker, begin);
			world.sleep(2000);
		}
	}

	private static void delayRenewals(World world) throws Exception {
		for (int i = 0; i < 5; i++) {
			long begin = System.nanoTime();
			world.network().disturbWorker(1, Network.Disturbance.late(Duration.ofMillis(4500)));
			world.sleep(9000);
			world.network().healWorker(1);
			world.log().add("requests late", 1, begin);
			world.sleep(2000);
		}
	}

}
