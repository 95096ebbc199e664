package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Threads that all compete for the permits of one lock, and hold each for a while.
 */
final class PermitCrowd {

	private final LockTemplate template;

	private final String name;

	private final LockOptions options;

	private final int sectionMillis;

	private final Queue<List<Long>> sections = new ConcurrentLinkedQueue<>();

	private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

	private volatile boolean ended;

	PermitCrowd(LockTemplate template, Document order) {
		this.template = template;
		this.name = order.getString("name");
		this.options = LockOptions.defaults().permits(order.getInteger("permits")).waitUpTo(Duration.ofMinutes(10));
		this.sectionMillis = order.getInteger("sectionMillis");
	}

	/**
	 * Run the threads for a while.
	 * @param count the number of threads
	 * @param fromNanos when to begin to measure, by {@link System#nanoTime()}
	 * @param window how long to measure
	 * @return for how long permits were held in that window, and each section with its
	 * permit, its beginning and its end
	 * @throws Exception if one of the threads failed
	 */
	Document run(int count, long fromNanos, Duration window) throws Exception {
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			Thread thread = new Thread(this::goOn, "crowd-" + i);
			threads.add(thread);
			thread.start();
		}
		long untilNanos = fromNanos + window.toNanos();
		TimeUnit.NANOSECONDS.sleep(Math.max(0, untilNanos - System.nanoTime()));
		this.ended = true;
		for (Thread thread : threads) {
			thread.join();
		}
		Exception failed = this.failure.get();
		if (failed != null) {
			throw failed;
		}
		long held = this.sections.stream()
			.mapToLong((section) -> Math.max(0,
					Math.min(section.get(2), untilNanos) - Math.max(section.get(1), fromNanos)))
			.sum();
		return new Document("heldNanos", held).append("sections", List.copyOf(this.sections));
	}

	private void goOn() {
		try {
			while (!this.ended) {
				try (LockHandle handle = this.template.acquire(this.name, this.options)) {
					long began = System.nanoTime();
					TimeUnit.MILLISECONDS.sleep(this.sectionMillis);
					this.sections.add(List.of((long) handle.permit(), began, System.nanoTime()));
				}
			}
		}
		catch (Exception ex) {
			this.failure.compareAndSet(null, ex);
			this.ended = true;
		}
	}

}
