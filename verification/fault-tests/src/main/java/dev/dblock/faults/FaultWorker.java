package dev.dblock.faults;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.engine.LockEngine;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Process that runs sections until it is stopped, as an application with everything that
 * the starter provides.
 */
final class FaultWorker {

	private static final int THREADS = 4;

	private static final long OBSERVE_MILLIS = 20;

	private static final long LAST_SECTIONS_MILLIS = 5_000;

	private static final long JOIN_MILLIS = 60_000;

	private FaultWorker() {
	}

	/**
	 * Run sections.
	 * @param args the folder, the number of the worker, the number of its process, the
	 * seed, and properties of the application
	 */
	public static void main(String[] args) throws Exception {
		Path folder = Path.of(args[0]);
		int worker = Integer.parseInt(args[1]);
		int life = Integer.parseInt(args[2]);
		Random random = new Random(Long.parseLong(args[3]) + 31L * worker + 1009L * life);
		Stamps stamps = new Stamps(folder);
		stamps.forgetWrites(worker);
		ConfigurableApplicationContext application = new SpringApplicationBuilder(FaultWorkerConfiguration.class)
			.web(WebApplicationType.NONE)
			.logStartupInfo(false)
			.run(List.of(args).subList(4, args.length).toArray(String[]::new));
		Sections sections = new Sections(application, worker, stamps, new Records(folder, worker, life));
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			long seed = random.nextLong();
			boolean slow = i == 0;
			threads.add(new Thread(() -> sections.run(new Random(seed), slow), "section-" + i));
		}
		threads.forEach(Thread::start);
		while (!stamps.isStopped()) {
			sections.observeAll();
			Thread.sleep(OBSERVE_MILLIS);
		}
		long end = System.currentTimeMillis() + LAST_SECTIONS_MILLIS;
		while (sections.areRunning() && System.currentTimeMillis() < end) {
			sections.observeAll();
			Thread.sleep(OBSERVE_MILLIS);
		}
		((DefaultLockEngine) application.getBean(LockEngine.class)).refuseWaiters();
		for (Thread thread : threads) {
			thread.join(JOIN_MILLIS);
		}
		application.close();
	}

}
