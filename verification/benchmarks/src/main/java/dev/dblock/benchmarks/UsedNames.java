package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import org.awaitility.Awaitility;
import org.bson.Document;

/**
 * Very many names that one process uses once each, while it holds one other lock.
 */
final class UsedNames {

	private static final int PARTS = 10;

	private UsedNames() {
	}

	/**
	 * Use names and measure.
	 * @param addresses the addresses of the servers
	 * @param count the number of names
	 * @return the state after the first tenth and the growth until the end
	 * @throws Exception if a lock could not be acquired
	 */
	static Document measure(Addresses addresses, int count) throws Exception {
		try (Lab lab = new Lab(addresses); DblockLocks application = lab.application()) {
			LockTemplate template = application.template();
			int part = count / PARTS;
			LockHandle held = template.acquire("held");
			use(template, 0, part);
			awaitRenewal(held);
			Heap first = Heap.atRest();
			long start = System.nanoTime();
			for (int from = part; from < count; from += part) {
				use(template, from, from + part);
			}
			double perSecond = (count - part) * 1e9 / (System.nanoTime() - start);
			Heap last = Heap.atRest();
			return new Document("bytes", first.used()).append("moreBytes", last.used() - first.used())
				.append("moreObjects", new Document(Map.copyOf(last.moreThan(first))))
				.append("threads", first.threads())
				.append("moreThreads", last.threads() - first.threads())
				.append("perSecond", perSecond);
		}
	}

	/**
	 * Wait until the lease is renewed. The objects that renew leases are created when the
	 * renewal first sees a lease. That may take long if each lock is held for
	 * microseconds only.
	 */
	private static void awaitRenewal(LockHandle held) {
		Duration before = held.remaining();
		Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> held.remaining().compareTo(before) > 0);
	}

	private static void use(LockTemplate template, int from, int to) throws Exception {
		ManyThreads.forEach(from, to, (number) -> template.acquire("once-" + number).release());
	}

}
