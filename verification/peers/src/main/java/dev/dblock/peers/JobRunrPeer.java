package dev.dblock.peers;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.jobrunr.jobs.context.JobContext;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.jobs.states.ScheduledState;
import org.jobrunr.scheduling.JobScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;
import org.jobrunr.utils.mapper.jackson.JacksonJsonMapper;
import org.jspecify.annotations.Nullable;

/**
 * JobRunr, with its defaults and with the most frequent polling that it permits.
 */
public final class JobRunrPeer {

	private static final Map<String, StorageProvider> STORES = new ConcurrentHashMap<>();

	private static @Nullable Recorder recorder;

	private JobRunrPeer() {
	}

	static void start(Recorder recorder, String instance, DataSource dataSource) {
		JobRunrPeer.recorder = recorder;
		start(instance, dataSource, Peers.JOBRUNR, "jobrunr_a_", Duration.ofSeconds(15));
		start(instance, dataSource, Peers.JOBRUNR_POLLING, "jobrunr_b_", Duration.ofSeconds(5));
	}

	private static void start(String instance, DataSource dataSource, String peer, String prefix,
			Duration pollInterval) {
		StorageProvider store = SqlStorageProviderFactory.using(dataSource, prefix);
		JacksonJsonMapper json = new JacksonJsonMapper();
		store.setJobMapper(new JobMapper(json));
		STORES.put(peer, store);
		BackgroundJobServerConfiguration configuration = BackgroundJobServerConfiguration
			.usingStandardBackgroundJobServerConfiguration()
			.andName(instance)
			.andWorkerCount(5)
			.andPollInterval(pollInterval);
		new BackgroundJobServer(store, json, null, configuration).start();
		new JobScheduler(store).scheduleRecurrently(Schedules.FIVE, Schedules.EVERY_FIVE_SECONDS,
				() -> JobRunrPeer.work(peer, Schedules.FIVE, JobContext.Null));
	}

	/**
	 * Record a run. JobRunr calls this.
	 * @param peer the name of the peer
	 * @param job the name of the job
	 * @param context where JobRunr passes the job
	 */
	public static void work(String peer, String job, JobContext context) {
		Recorder recorder = JobRunrPeer.recorder;
		StorageProvider store = STORES.get(peer);
		if (recorder == null || store == null) {
			throw new IllegalStateException("not started");
		}
		long actual = recorder.now();
		store.getJobById(context.getJobId())
			.getJobStates()
			.stream()
			.filter(ScheduledState.class::isInstance)
			.map(ScheduledState.class::cast)
			.findFirst()
			.ifPresent((state) -> recorder.run(peer, job, state.getScheduledAt().toEpochMilli(), actual));
	}

}
