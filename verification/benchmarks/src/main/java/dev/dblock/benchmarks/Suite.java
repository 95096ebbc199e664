package dev.dblock.benchmarks;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Runs cases one after another. A case that fails becomes a missed line, and the others
 * continue.
 */
final class Suite {

	static final List<BenchmarkCase> ALL = List.of(new UncontendedCase(), new RefusalCase(), new HandOverCase(),
			new ContendedCase(), new ProcessesCase(), new WaitersCase(), new LeasesCase(), new AnnotationCase(),
			new ManyNamesCase(), new UsedNamesCase(), new JobCase(), new ReleaseFeedCase(), new ProviderCase(),
			new WaitingCostCase(), new PermitsCase());

	private final List<BenchmarkCase> cases;

	private final PrintStream progress;

	Suite(List<BenchmarkCase> cases, PrintStream progress) {
		this.cases = cases;
		this.progress = progress;
	}

	/**
	 * Run all cases.
	 * @param bench the shared resources
	 * @param afterEach receives all lines so far after each case, so that the results of
	 * an aborted run are not lost
	 * @return all lines
	 */
	List<Line> run(Bench bench, Consumer<List<Line>> afterEach) {
		List<Line> lines = new ArrayList<>();
		for (BenchmarkCase each : this.cases) {
			this.progress.println(each.id() + " " + each.title());
			long start = System.nanoTime();
			List<Line> results = run(each, bench);
			this.progress.printf("%s took %d s%n", each.id(), Duration.ofNanos(System.nanoTime() - start).toSeconds());
			lines.addAll(results);
			afterEach.accept(List.copyOf(lines));
		}
		return lines;
	}

	private List<Line> run(BenchmarkCase each, Bench bench) {
		try {
			return each.run(bench);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return List.of(Line.failed(each.id(), each.title(), ex));
		}
		catch (Exception | Error ex) {
			ex.printStackTrace(this.progress);
			return List.of(Line.failed(each.id(), each.title(), ex));
		}
	}

}
