package dev.dblock.benchmarks;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Memory use of this JVM after a garbage collection.
 *
 * @param used the used bytes of the heap
 * @param objects the number of objects of each of dblock's own classes
 * @param threads the number of threads
 */
record Heap(long used, Map<String, Long> objects, int threads) {

	private static final int COLLECTIONS = 3;

	/**
	 * The engine's timer checks once a second whether there is anything to do.
	 */
	private static final int SETTLE_SECONDS = 3;

	/**
	 * Line of the JVM's histogram: rank, instances, bytes, class.
	 */
	private static final Pattern LINE = Pattern.compile("(?m)^\\s*\\d+:\\s+(\\d+)\\s+\\d+\\s+(\\S+)");

	/**
	 * Collect garbage and measure.
	 */
	static Heap afterCollection() throws JMException {
		for (int i = 0; i < COLLECTIONS; i++) {
			System.gc();
		}
		return new Heap(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(), countObjects(),
				ManagementFactory.getThreadMXBean().getThreadCount());
	}

	/**
	 * Wait until pending work is done, collect garbage and measure.
	 */
	static Heap atRest() throws JMException, InterruptedException {
		TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
		return afterCollection();
	}

	private static Map<String, Long> countObjects() throws JMException {
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		Object histogram = server.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
				"gcClassHistogram", new Object[] { null }, new String[] { String[].class.getName() });
		Matcher matcher = LINE.matcher(String.valueOf(histogram));
		Map<String, Long> objects = new TreeMap<>();
		while (matcher.find()) {
			String type = matcher.group(2);
			if (type.startsWith("dev.dblock.") && !type.startsWith("dev.dblock.benchmarks.")) {
				objects.merge(type, Long.parseLong(matcher.group(1)), Long::sum);
			}
		}
		return objects;
	}

	/**
	 * Return the classes that have more objects here than in an earlier state, with the
	 * difference.
	 */
	Map<String, Long> moreThan(Heap earlier) {
		Map<String, Long> more = new TreeMap<>();
		this.objects.forEach((type, count) -> {
			long difference = count - earlier.objects.getOrDefault(type, 0L);
			if (difference > 0) {
				more.put(type, difference);
			}
		});
		return more;
	}

}
