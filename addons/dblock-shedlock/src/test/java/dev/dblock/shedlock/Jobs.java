package dev.dblock.shedlock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.annotation.Scheduled;

/**
 * The methods of an application that uses ShedLock. The scheduler calls none of them
 * during a test.
 */
class Jobs {

	private static final String NEVER = "0 0 0 1 1 *";

	private final List<String> ran = Collections.synchronizedList(new ArrayList<>());

	private volatile Runnable work = () -> {
	};

	List<String> ran() {
		return List.copyOf(this.ran);
	}

	void work(Runnable work) {
		this.work = work;
	}

	@Scheduled(cron = NEVER)
	@SchedulerLock(name = "nightly", lockAtMostFor = "1m")
	public void nightly() {
		run("nightly");
	}

	@Scheduled(cron = NEVER)
	@SchedulerLock(name = "${jobs.shared:shared}", lockAtMostFor = "1m", lockAtLeastFor = "30s")
	public void first() {
		run("first");
	}

	@Scheduled(fixedRate = 1_000_000_000L, initialDelay = 1_000_000_000L)
	@SchedulerLock(name = "shared", lockAtMostFor = "${jobs.at-most:1m}", lockAtLeastFor = "${jobs.at-least:0s}")
	public void second() {
		run("second");
	}

	@SchedulerLock(name = "tenant-#{#tenant}", lockAtMostFor = "1m")
	public Optional<String> report(String tenant) {
		run("report " + tenant);
		return Optional.of(tenant);
	}

	@SchedulerLock(name = "value", lockAtMostFor = "1m")
	public <T> @Nullable T value(Supplier<T> value) {
		return value.get();
	}

	private void run(String job) {
		LockAssert.assertLocked();
		LockHandle lock = LockContext.current().orElseThrow();
		lock.ensureHeld();
		this.ran.add(job + " under " + lock.name());
		this.work.run();
	}

}
