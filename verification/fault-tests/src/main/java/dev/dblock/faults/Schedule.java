package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import com.mongodb.MongoException;

/**
 * Schedule of faults, in an order that the seed determines. Each round causes each fault
 * once, with a pause in between. The first round is always completed, and its faults
 * occur one after another. In later rounds, a fault of a worker may occur at the same
 * time as a fault of the servers.
 */
final class Schedule {

	private final Random random;

	private final Duration duration;

	private final List<Fault> faults;

	Schedule(Random random, Duration duration, List<Fault> all, String only) {
		this.random = random;
		this.duration = duration;
		this.faults = all.stream().filter((fault) -> fault.kind().contains(only)).toList();
		if (this.faults.isEmpty()) {
			throw new IllegalArgumentException(
					"no fault is called '" + only + "'; there are " + all.stream().map(Fault::kind).toList());
		}
	}

	List<String> kinds() {
		return this.faults.stream().map(Fault::kind).toList();
	}

	void run(World world) throws Exception {
		long end = System.nanoTime() + this.duration.toNanos();
		List<Fault> round = new ArrayList<>();
		for (int rounds = 0; rounds == 0 || System.nanoTime() < end || (rounds == 1 && !round.isEmpty());) {
			if (round.isEmpty()) {
				rounds++;
				round.addAll(this.faults);
				Collections.shuffle(round, this.random);
			}
			Fault next = round.remove(round.size() - 1);
			Optional<Fault> beside = (rounds > 1 && next.forServers() && this.random.nextBoolean()) ? forWorker(round)
					: Optional.empty();
			beside.ifPresent(round::remove);
			happen(world, next, beside);
			world.sleep(500 + this.random.nextInt(2000));
		}
	}

	private static Optional<Fault> forWorker(List<Fault> round) {
		return round.stream().filter((fault) -> !fault.forServers()).findFirst();
	}

	private void happen(World world, Fault fault, Optional<Fault> beside) throws Exception {
		World one = world.with(new Random(this.random.nextLong()));
		World other = world.with(new Random(this.random.nextLong()));
		CompletableFuture<Void> besides = beside
			.map((second) -> CompletableFuture.runAsync(() -> happen(other, second)))
			.orElseGet(() -> CompletableFuture.completedFuture(null));
		happen(one, fault);
		besides.join();
	}

	/**
	 * Cause a fault. The server that has to cause it may be gone.
	 */
	private static void happen(World world, Fault fault) {
		try {
			fault.happen(world);
		}
		catch (MongoException ex) {
			System.err.println("        " + fault.kind() + " did not happen: " + ex.getMessage());
			Faults.insist(world.cluster()::clearFailPoints);
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(fault.kind() + " went wrong", ex);
		}
	}

}
