package dev.dblock.benchmarks;

import java.util.Map;

import dev.dblock.LockTemplate;
import org.bson.Document;

/**
 * Very many names that one process uses once each.
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
			use(template, 0, part);
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

	private static void use(LockTemplate template, int from, int to) throws Exception {
		ManyThreads.forEach(from, to, (number) -> template.acquire("once-" + number).release());
	}

}
