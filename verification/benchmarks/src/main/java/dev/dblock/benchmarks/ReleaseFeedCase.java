package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.mongodb.client.MongoClient;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.benchmarks.WaitingProcesses.Mode;

/**
 * P12: what waiting processes cost the servers while other locks are released, as by
 * default and with {@code dblock.release-feed=poll}.
 */
final class ReleaseFeedCase implements BenchmarkCase {

	private static final int RELEASES_PER_SECOND = 50;

	@Override
	public String id() {
		return "P12";
	}

	@Override
	public String title() {
		return "waiting processes at %d releases/s of other locks: cost on the servers".formatted(RELEASES_PER_SECOND);
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		int most = bench.pick(200, 50);
		List<Setting> settings = Stream.of(10, 50, 100, 200)
			.filter((count) -> count <= most)
			.flatMap((count) -> Stream.of(new Setting(count, Mode.QUIET), new Setting(count, Mode.POLLING)))
			.toList();
		Map<Setting, List<Double>> costs = new LinkedHashMap<>();
		List<Double> without = new ArrayList<>();
		try (DblockLocks application = bench.lab().application();
				ServerCounters counters = new ServerCounters(bench.addresses());
				MongoClient client = WaitingProcesses.client(bench.addresses())) {
			LockTemplate locks = application.template();
			List<LockHandle> held = WaitingProcesses.hold(locks, most);
			Releases releases = new Releases(locks, RELEASES_PER_SECOND);
			try {
				for (int round = 0; round < bench.pick(2, 1); round++) {
					double base = measure(bench, counters);
					without.add(base);
					for (Setting setting : settings) {
						try (WaitingProcesses waiting = new WaitingProcesses(client, bench.addresses().database(),
								setting.processes(), setting.mode())) {
							costs.computeIfAbsent(setting, (key) -> new ArrayList<>())
								.add(measure(bench, counters) - base);
						}
					}
				}
				return lines(without, costs, releases.perSecond());
			}
			finally {
				releases.close();
				held.forEach(LockHandle::close);
			}
		}
	}

	private static double measure(Bench bench, ServerCounters counters) throws InterruptedException {
		TimeUnit.SECONDS.sleep(bench.pick(3, 1));
		return counters.cores(bench.pick(8, 2));
	}

	private List<Line> lines(List<Double> without, Map<Setting, List<Double>> costs, double releases) {
		List<Line> lines = new ArrayList<>();
		lines.add(line("0 " + title(), without, "%s were released".formatted(Quantity.perSecond(releases))));
		costs.forEach((setting,
				values) -> lines.add(line(
						"%d %s, %s".formatted(setting.processes(), title(),
								(setting.mode() == Mode.POLLING) ? "polling" : "as by default"),
						values, "beyond that without waiting processes")));
		return lines;
	}

	private Line line(String what, List<Double> values, String note) {
		Spread spread = Spread.of(values);
		return Line.absolute(id(), what, new Quantity(spread.median(), Unit.CORES), null, "%s; %s to %s in %d rounds"
			.formatted(note, Unit.CORES.format(spread.lower()), Unit.CORES.format(spread.upper()), spread.count()));
	}

	/**
	 * Waiting processes.
	 *
	 * @param processes the number of processes
	 * @param mode how they learn of releases
	 */
	private record Setting(int processes, Mode mode) {
	}

}
