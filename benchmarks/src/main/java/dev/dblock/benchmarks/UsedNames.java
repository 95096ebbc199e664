package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import org.awaitility.Awaitility;
import org.bson.Document;

/**
 * Very many names that one process uses once each, beside one lock that it holds all the
 * while.
 */
final class UsedNames {

	private static final int PARTS = 10;

	private UsedNames() {
	}

	/**
	 * Use names.
	 * @param addresses where the locks are
	 * @param count how many names
	 * @return what was left after the first tenth, and at the end
	 * @throws Exception when one could not be had
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
	 * What renews leases is made when it first sees one, which it may not do for long
	 * where each is held for microseconds only.
	 */
	private static void awaitRenewal(LockHandle held) {
		Duration before = held.remaining();
		Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> held.remaining().compareTo(before) > 0);
	}

	private static void use(LockTemplate template, int from, int to) throws Exception {
		ManyThreads.forEach(from, to, (number) -> template.acquire("once-" + number).release());
	}

}
