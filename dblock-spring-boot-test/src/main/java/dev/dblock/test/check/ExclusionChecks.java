package dev.dblock.test.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import com.mongodb.client.MongoDatabase;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.test.check.Contender.Place;
import dev.dblock.test.check.ServerReport.Result;
import dev.dblock.test.check.ServerReport.Row;
import dev.dblock.test.check.Tally.Count;

/**
 * The checks that decide whether locks exclude each other, in one dialect.
 */
final class ExclusionChecks implements AutoCloseable {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final int NEW_NAMES = 80;

	private static final int PLANNED_TIMES = 20;

	/** How far the clock of the second instance is behind. */
	private static final long CLOCKS_DIFFER = 60;

	private static final Duration LEASE = Duration.ofSeconds(2);

	/** A busy machine may delay a renewal for longer than its lease. */
	private static final int ATTEMPTS = 3;

	private static final Duration LONGEST_WITHOUT_LOSS = Duration.ofMinutes(1);

	private final CheckedServer server;

	private final Place place;

	private final UnaryOperator<MongoDatabase> change;

	private final Duration contention;

	private final Contender contender;

	private final SecondProcess second;

	private int granted;

	private int lower;

	private boolean pipeline;

	ExclusionChecks(CheckedServer server, String uri, Place place, UnaryOperator<MongoDatabase> change,
			Duration contention) {
		this.contention = contention;
		this.server = server;
		this.place = place;
		this.change = change;
		this.contender = new Contender(server, place, change, Contender.eager());
		this.second = SecondProcess.start(uri, place);
	}

	/**
	 * Return the checks by their names. The crash of the second process is the last one
	 * that needs it.
	 */
	Map<String, Supplier<Row>> all() {
		Map<String, Supplier<Row>> checks = new LinkedHashMap<>();
		checks.put("new names", this::newNames);
		checks.put("sections", this::sections);
		checks.put("lost answers", this::lostAnswers);
		checks.put("scheduled jobs", this::jobs);
		checks.put("end of a lease", this::endOfLease);
		checks.put("crash of a process", this::crash);
		checks.put("fencing tokens", this::tokens);
		return checks;
	}

	/** Whether the requests had pipelines. */
	boolean pipeline() {
		return this.pipeline;
	}

	private Row newNames() {
		long start = System.currentTimeMillis() + 500;
		Tally tally = together(() -> this.contender.race(NEW_NAMES, start), "race", NEW_NAMES, start);
		this.pipeline = this.server.requests().pipeline();
		return judge("new names", tally,
				"%d names were raced for by 8 engines in two processes".formatted(NEW_NAMES) + failures(tally));
	}

	private Row sections() {
		Tally tally = together(() -> this.contender.sections(this.contention.toMillis()), "sections",
				this.contention.toMillis());
		return judge("sections", tally, "3 locks, 8 engines in two processes" + failures(tally));
	}

	private Row lostAnswers() {
		String obstacle = this.server.whyNoProxy();
		if (!obstacle.isEmpty()) {
			return new Row("lost answers", Result.SKIPPED, "no proxy can lose answers, because " + obstacle);
		}
		try (LossyProxy proxy = new LossyProxy(this.server.writable());
				CheckedServer behind = this.server.at(proxy.address());
				Contender losing = new Contender(behind, this.place, this.change, Contender.eager())) {
			long start = System.nanoTime();
			Tally tally = losingSections(losing);
			// A slow server has answered fewer writes than the proxy counts for one loss.
			while (proxy.lost() == 0 && System.nanoTime() - start < LONGEST_WITHOUT_LOSS.toNanos()) {
				tally.plus(losingSections(losing));
			}
			Row row = judge("lost answers", tally,
					"%d answers were lost on their way to one process, and %d requests failed".formatted(proxy.lost(),
							tally.get(Count.FAILED)));
			return (row.result() == Result.YES && proxy.lost() == 0)
					? new Row("lost answers", Result.FAILED, "no answer was lost") : row;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Tally losingSections(Contender losing) {
		return together(() -> losing.sections(this.contention.toMillis()), "sections", this.contention.toMillis());
	}

	private Row jobs() {
		StoreTime time = new MongoLockRepository(this.server.factory(this.change), this.place.settings()).time(TIMEOUT)
			.orElseThrow();
		long ahead = time.notBefore().toEpochMilli() - System.currentTimeMillis();
		long start = time.notAfter().toEpochMilli() + 1000;
		Tally tally = together(() -> this.contender.jobs(PLANNED_TIMES, start, -ahead), "jobs", PLANNED_TIMES, start,
				CLOCKS_DIFFER - ahead);
		String seen = "%d of %d planned times were run, %d of them twice, by two instances whose clocks differ by %d ms"
			.formatted(tally.get(Count.GRANTED), PLANNED_TIMES, tally.get(Count.AGAIN), CLOCKS_DIFFER);
		if (tally.get(Count.AGAIN) > 0) {
			return new Row("scheduled jobs", Result.NO, seen);
		}
		return new Row("scheduled jobs", (tally.get(Count.GRANTED) > 0) ? Result.YES : Result.FAILED,
				seen + failures(tally));
	}

	private Row endOfLease() {
		LockOptions options = LockOptions.lease(LEASE).autoRenew(false);
		long sent = System.nanoTime();
		// Not closed, since it is lost by then. Asks again if the answer comes too late
		LockHandle first = acquireSoon(0, "end", options);
		try (LockHandle next = acquireSoon(1, "end", options)) {
			boolean stillHeld = first.isHeld();
			Duration after = Duration.ofNanos(System.nanoTime() - sent);
			compare(first.token(), next.token());
			boolean early = stillHeld || after.compareTo(LEASE) < 0;
			return new Row("end of a lease", early ? Result.NO : Result.YES,
					"a lease of %d ms that was not renewed was taken over after %d ms, with 500 ms for clocks"
						.formatted(LEASE.toMillis(), after.toMillis()));
		}
	}

	private Row crash() {
		long lease = 3000;
		long token = Long.parseLong(this.second.ask("hold", "crash", lease));
		for (int attempt = 1;; attempt++) {
			Contender.sleep(lease * 3 / 2);
			Optional<LockHandle> stolen = this.contender.locks(0).tryAcquire("crash");
			if (stolen.isEmpty()) {
				break;
			}
			boolean held = Boolean.parseBoolean(this.second.ask("held"));
			if (held || attempt == ATTEMPTS) {
				return new Row("crash of a process", held ? Result.NO : Result.FAILED,
						"the lock of a live process was granted again, "
								+ (held ? "although it is" : "after it was not") + " renewed in time");
			}
			stolen.get().close();
			token = Long.parseLong(this.second.ask("hold", "crash", lease));
		}
		this.second.kill();
		long killed = System.nanoTime();
		try (LockHandle next = acquireSoon(0, "crash", LockOptions.lease(LEASE))) {
			compare(token, next.token());
			return new Row("crash of a process", Result.YES,
					"a lease of %d ms was renewed, and taken over %d ms after its process was killed".formatted(lease,
							Duration.ofNanos(System.nanoTime() - killed).toMillis()));
		}
	}

	private LockHandle acquireSoon(int engine, String name, LockOptions options) {
		return this.contender.locks(engine).acquire(name, options.waitUpTo(Duration.ofSeconds(30)));
	}

	private void compare(long before, long after) {
		this.granted += 2;
		if (after <= before) {
			this.lower++;
		}
	}

	private Row tokens() {
		return new Row("fencing tokens", (this.lower > 0) ? Result.NO : Result.YES,
				"%d of %d tokens were not higher than the one before".formatted(this.lower, this.granted));
	}

	/**
	 * Let both processes work at the same time.
	 */
	private Tally together(Supplier<Tally> here, Object... command) {
		CompletableFuture<String> there = CompletableFuture.supplyAsync(() -> this.second.ask(command));
		Tally tally = here.get().plus(Tally.fromLine(there.join()));
		this.granted += tally.get(Count.GRANTED);
		this.lower += tally.get(Count.LOWER);
		return tally;
	}

	static Row judge(String check, Tally tally, String how) {
		int granted = tally.get(Count.GRANTED);
		int overlapped = tally.get(Count.OVERLAPPED);
		String seen = "%s: %d grants, %d overlapped".formatted(how, granted, overlapped);
		if (overlapped > 0 || tally.get(Count.LOWER) > 0) {
			return new Row(check, Result.NO, seen);
		}
		return new Row(check, (granted > 0) ? Result.YES : Result.FAILED, seen);
	}

	private static String failures(Tally tally) {
		int failed = tally.get(Count.FAILED);
		return (failed > 0) ? " (%d requests failed: %s)".formatted(failed, tally.failure()) : "";
	}

	@Override
	public void close() {
		this.second.close();
		this.contender.close();
	}

}
