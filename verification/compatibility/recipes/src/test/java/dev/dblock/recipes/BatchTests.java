package dev.dblock.recipes;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobRun;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.Stubborn;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.job.JobInstance;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job of Spring Batch for each planned time.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class BatchTests {

	private static final List<String> COLLECTED = new CopyOnWriteArrayList<>();

	private static final List<String> RUNS = new CopyOnWriteArrayList<>();

	private static final AtomicBoolean CRASHING = new AtomicBoolean();

	private static CountDownLatch end;

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		COLLECTED.clear();
		RUNS.clear();
		CRASHING.set(false);
		end = new CountDownLatch(1);
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() {
		end.countDown();
		this.instances.close();
	}

	@Test
	void eachPlannedTimeIsOneExecution() {
		ApplicationContext one = start("one", "spring.batch.data.mongodb.schema.initialize=true");
		start("two");
		Instances.eventually().until(() -> RUNS.size() >= 4);
		List<JobInstance> billed = billed(one);
		this.instances.close();
		assertThat(RUNS).doesNotHaveDuplicates().isSorted();
		assertThat(billed).hasSizeGreaterThanOrEqualTo(3);
	}

	@Test
	void runThatCrashedIsRestartedByAnotherInstance() {
		CRASHING.set(true);
		start("one", "spring.batch.data.mongodb.schema.initialize=true");
		Instances.eventually().until(() -> RUNS.size() == 1);
		ApplicationContext two = start("two");
		this.instances.expire("billing");
		Instances.eventually().until(() -> RUNS.size() >= 3);
		assertThat(RUNS.get(1)).isEqualTo(RUNS.get(0)).isNotEqualTo(RUNS.get(2));
		assertThat(COLLECTED).as("each once").doesNotHaveDuplicates().contains(RUNS.get(0));
		JobRepository repository = two.getBean(JobRepository.class);
		List<JobInstance> billed = billed(two);
		assertThat(repository.getJobExecutions(billed.get(billed.size() - 1))).extracting(JobExecution::getStatus)
			.containsExactly(BatchStatus.COMPLETED, BatchStatus.FAILED);
	}

	private ApplicationContext start(String name, String... properties) {
		return this.instances.start(name, Application.class, StringUtils.concatenateStringArrays(properties,
				new String[] { "spring.batch.job.enabled=false", "billing.cron=* * * * * *" }));
	}

	/**
	 * Return the instances of the job, the latest one first.
	 */
	private static List<JobInstance> billed(ApplicationContext instance) {
		return instance.getBean(JobRepository.class).getJobInstances("billing", 0, 1000);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Job billing(JobRepository repository) {
			return new JobBuilder("billing", repository)
				.start(new StepBuilder("collect", repository).tasklet((contribution, chunk) -> {
					COLLECTED.add((String) chunk.getStepContext().getJobParameters().get("plannedAt"));
					return RepeatStatus.FINISHED;
				}).build())
				.next(new StepBuilder("bill", repository).tasklet((contribution, chunk) -> {
					RUNS.add((String) chunk.getStepContext().getJobParameters().get("plannedAt"));
					if (CRASHING.getAndSet(false)) {
						Stubborn.await(end);
					}
					return RepeatStatus.FINISHED;
				}).build())
				.build();
		}

		@Bean
		Billing nightlyBilling(JobOperator operator, JobRepository repository, Job billing) {
			return new Billing(operator, repository, billing);
		}

	}

	static class Billing {

		private final JobOperator operator;

		private final JobRepository repository;

		private final Job billing;

		Billing(JobOperator operator, JobRepository repository, Job billing) {
			this.operator = operator;
			this.repository = repository;
			this.billing = billing;
		}

		@Scheduled(cron = "${billing.cron}")
		@DistributedLock(name = "billing", leaseSeconds = 60)
		@JobPolicy(whenCrashed = JobPolicy.WhenCrashed.RERUN)
		void bill() throws JobExecutionException {
			this.repository.findRunningJobExecutions("billing").forEach(this.operator::recover);
			Instant plannedAt = JobRun.current().orElseThrow().plannedAt();
			JobExecution execution = this.operator.start(this.billing,
					new JobParametersBuilder().addString("plannedAt", plannedAt.toString()).toJobParameters());
			Assert.state(execution.getStatus() == BatchStatus.COMPLETED, execution::toString);
		}

	}

}
