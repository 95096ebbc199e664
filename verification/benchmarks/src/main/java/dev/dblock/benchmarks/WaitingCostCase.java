package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.benchmarks.WaitingProcesses.Mode;
import org.jspecify.annotations.Nullable;

/**
 * P14: what waiting processes cost the servers while the application writes other
 * documents, compared with as many change streams and tailable cursors of the plain
 * driver.
 */
final class WaitingCostCase implements BenchmarkCase {

	private static final int RELEASES_PER_SECOND = 50;

	private static final int WARM_UP_SECONDS = 5;

	@Override
	public String id() {
		return "P14";
	}

	@Override
	public String title() {
		return "waiting processes beside unrelated writes: cost on the servers";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Integer> counts = (bench.pick(1, 0) == 1) ? List.of(10, 40) : List.of(5);
		List<Integer> writes = (bench.pick(1, 0) == 1) ? List.of(0, 300, 1000, 3000) : List.of(0, 300);
		int most = counts.get(counts.size() - 1);
		Map<Cell, List<Double>> costs = new LinkedHashMap<>();
		Map<Cell, List<Double>> written = new LinkedHashMap<>();
		try (DblockLocks application = bench.lab().application();
				ServerCounters counters = new ServerCounters(bench.addresses());
				MongoClient client = WaitingProcesses.client(bench.addresses())) {
			LockTemplate locks = application.template();
			List<LockHandle> held = WaitingProcesses.hold(locks, most);
			MongoDatabase database = client.getDatabase(bench.addresses().database());
			warmUp(bench, database, locks);
			try {
				for (int round = 0; round < bench.pick(2, 1); round++) {
					for (int releases : List.of(0, RELEASES_PER_SECOND)) {
						for (int rate : writes) {
							measure(bench, counters, client, database, locks, counts, rate, releases, costs, written);
						}
					}
				}
			}
			finally {
				held.forEach(LockHandle::close);
			}
		}
		return lines(costs, written);
	}

	private static void warmUp(Bench bench, MongoDatabase database, LockTemplate locks) throws InterruptedException {
		try (Releases releases = new Releases(locks, RELEASES_PER_SECOND);
				UnrelatedWrites writes = new UnrelatedWrites(database, 1000)) {
			TimeUnit.SECONDS.sleep(bench.pick(WARM_UP_SECONDS, 1));
		}
	}

	/**
	 * Measure all kinds of waiters in turn, beside the same writes.
	 */
	private static void measure(Bench bench, ServerCounters counters, MongoClient client, MongoDatabase database,
			LockTemplate locks, List<Integer> counts, int rate, int releases, Map<Cell, List<Double>> costs,
			Map<Cell, List<Double>> written) throws Exception {
		try (UnrelatedWrites writes = new UnrelatedWrites(database, rate); @Nullable
		Releases released = (releases > 0) ? new Releases(locks, releases) : null) {
			double base = measure(bench, counters);
			add(costs, new Cell(Kind.NONE, 0, rate, releases), base);
			for (int count : counts) {
				for (Kind kind : List.of(Kind.DBLOCK, Kind.LISTENING, Kind.CHANGE_STREAM, Kind.TAILABLE,
						Kind.POLLING)) {
					try (AutoCloseable waiting = kind.open(client, database, count)) {
						add(costs, new Cell(kind, count, rate, releases), measure(bench, counters) - base);
					}
				}
			}
			add(written, new Cell(Kind.NONE, 0, rate, releases), writes.perSecond());
		}
	}

	private static void add(Map<Cell, List<Double>> values, Cell cell, double value) {
		values.computeIfAbsent(cell, (key) -> new ArrayList<>()).add(value);
	}

	private static double measure(Bench bench, ServerCounters counters) throws InterruptedException {
		TimeUnit.SECONDS.sleep(bench.pick(2, 1));
		return counters.cores(bench.pick(6, 1));
	}

	private List<Line> lines(Map<Cell, List<Double>> costs, Map<Cell, List<Double>> written) {
		List<Line> lines = new ArrayList<>();
		costs.forEach((cell, values) -> {
			Spread spread = Spread.of(values);
			Line line = Line.absolute(id(), cell.describe(), new Quantity(spread.median(), Unit.CORES), null, "");
			List<Double> streams = costs
				.get(new Cell(Kind.CHANGE_STREAM, cell.count(), cell.writes(), cell.releases()));
			if ((cell.kind() == Kind.DBLOCK || cell.kind() == Kind.LISTENING) && streams != null) {
				Spread others = Spread.of(streams);
				line = Line.compared(id(), cell.describe(), new Quantity(spread.median(), Unit.CORES),
						"as many change streams", new Quantity(others.median(), Unit.CORES),
						Spread.ofRatios(values, streams), null);
			}
			List<Double> rates = written.get(cell);
			lines.add(line.withNote("%s to %s in %d rounds%s".formatted(Unit.CORES.format(spread.lower()),
					Unit.CORES.format(spread.upper()), spread.count(), (rates != null)
							? "; %s were written".formatted(Quantity.perSecond(Spread.of(rates).median())) : "")));
		});
		return lines;
	}

	/**
	 * What waits.
	 */
	private enum Kind {

		NONE("no waiting process, in total"), DBLOCK("waiting processes"),
		LISTENING("waiting processes in their first ten seconds"), CHANGE_STREAM("change streams of the driver"),
		TAILABLE("tailable cursors of the driver"), POLLING("waiting processes that poll");

		private final String text;

		Kind(String text) {
			this.text = text;
		}

		AutoCloseable open(MongoClient client, MongoDatabase database, int count) throws InterruptedException {
			return switch (this) {
				case CHANGE_STREAM -> RawCursors.changeStreams(database, count);
				case TAILABLE -> RawCursors.tailable(database, count);
				case LISTENING -> new WaitingProcesses(client, database.getName(), count, Mode.LISTENING);
				case POLLING -> new WaitingProcesses(client, database.getName(), count, Mode.POLLING);
				default -> new WaitingProcesses(client, database.getName(), count, Mode.QUIET);
			};
		}

	}

	/**
	 * One measurement.
	 *
	 * @param kind what waits
	 * @param count how many
	 * @param writes the unrelated writes per second
	 * @param releases the releases of other locks per second
	 */
	private record Cell(Kind kind, int count, int writes, int releases) {

		String describe() {
			return "%s%s, %,d unrelated writes/s, %d releases/s of other locks"
				.formatted((this.count > 0) ? this.count + " " : "", this.kind.text, this.writes, this.releases);
		}

	}

}
