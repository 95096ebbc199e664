package dev.dblock.benchmarks.startup;

import java.lang.management.ManagementFactory;
import java.time.Duration;

import org.springframework.boot.SpringApplication;

/**
 * Starts an application, and prints what that has cost: once it has started, and after a
 * pause, so that work in the background is included.
 */
final class Started {

	private static final Duration PAUSE = Duration.ofMillis(1500);

	private Started() {
	}

	static void run(Class<?> application, String[] args) throws InterruptedException {
		SpringApplication.run(application, args);
		System.out.println("ready " + figures());
		Thread.sleep(PAUSE.toMillis());
		String later = figures();
		// The second collection finds what the first one only made unreachable
		System.gc();
		System.gc();
		long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
		System.out.println("later %s %d".formatted(later, heap / 1000));
	}

	private static String figures() {
		Duration processor = ProcessHandle.current().info().totalCpuDuration().orElseThrow();
		long classes = ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount();
		return "%d %d".formatted(processor.toMillis(), classes);
	}

}
