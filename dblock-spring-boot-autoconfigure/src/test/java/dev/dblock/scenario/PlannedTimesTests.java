package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.LockOptions;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that ask for the planned times of a job that takes no time.
 */
@SameOnEachJdk
@Timeout(300)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class PlannedTimesTests {

	private static final int PLANNED_TIMES = 50;

	@Test
	void eachPlannedTimeRunsOnceHoweverMuchTheSchedulersDiffer(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			List<Instance> all = List.of(instances.start("one"), instances.start("two"), instances.start("three"));
			AtomicInteger runs = new AtomicInteger();
			AtomicInteger done = new AtomicInteger();
			Instant first = Instant.now().minus(Duration.ofMinutes(30));
			for (int i = 0; i < PLANNED_TIMES; i++) {
				Instant planned = first.plusSeconds(i);
				for (Instance instance : all) {
					instance.locks()
						.execute("short", LockOptions.defaults().claim(JobFiring.at(planned)), runs::incrementAndGet,
								(refusal) -> {
									assertThat(JobRefusal.of(refusal)).isNotNull();
									assertThat(JobRefusal.of(refusal).reason()).isEqualTo(Reason.DONE);
									return done.incrementAndGet();
								});
				}
				assertThat(runs).hasValue(i + 1);
			}
			assertThat(done).hasValue(2 * PLANNED_TIMES);
		}
	}

	@Test
	void eachPlannedTimeRunsOnceIfAllAskAtOnce(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			List<Instance> all = List.of(instances.start("one"), instances.start("two"), instances.start("three"));
			Instant first = Instant.now().minus(Duration.ofMinutes(30));
			List<Instant> runs = Collections.synchronizedList(new ArrayList<>());
			List<Work<Boolean>> threads = new ArrayList<>();
			ConcurrentHashMap<Reason, Integer> refusals = new ConcurrentHashMap<>();
			for (Instance instance : all) {
				threads.add(Work.start(() -> {
					for (int i = 0; i < PLANNED_TIMES; i++) {
						Instant planned = first.plusSeconds(i);
						instance.locks()
							.execute("short", LockOptions.defaults().claim(JobFiring.at(planned)),
									() -> runs.add(planned), (refusal) -> {
										assertThat(JobRefusal.of(refusal)).isNotNull();
										refusals.merge(JobRefusal.of(refusal).reason(), 1, Integer::sum);
										return false;
									});
					}
				}));
			}
			for (Work<Boolean> thread : threads) {
				thread.result();
			}
			assertThat(runs).doesNotHaveDuplicates().contains(first.plusSeconds(PLANNED_TIMES - 1));
			assertThat(refusals.keySet()).isSubsetOf(Reason.DONE, Reason.RUNNING, Reason.OVERLAPPED);
			assertThat(runs.size() + refusals.values().stream().mapToInt(Integer::intValue).sum())
				.isEqualTo(3 * PLANNED_TIMES);
		}
	}

}
