package dev.dblock.job.event;

import java.time.Instant;

import dev.dblock.claim.Claim;
import dev.dblock.event.LockListener;
import dev.dblock.job.JobNews;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Listener for the locks and the jobs of this application context. Beans of this type are
 * detected and called like other {@linkplain LockListener listeners}.
 */
public interface JobListener extends LockListener {

	/**
	 * Called after a run of a job has ended, or has lost its lock. Its start is reported
	 * by {@link #onAcquired} with a handle that has a {@linkplain JobRun#of run}. Called
	 * in the thread that released the lock, and at a loss in a thread of its own, like
	 * {@link #onLost}.
	 * @param name the full name of the lock
	 * @param run the run as this instance knows it, with its outcome. Its end is by the
	 * server's clock at the grant, continued by that of this instance
	 */
	default void onRunEnded(String name, JobRun run) {
	}

	/**
	 * Called if a run of a job crashed: its lease expired before its end was recorded.
	 * The instance that is granted the job next is called, in a thread of its own; all
	 * other instances are not. The work may still be running if its instance was only
	 * paused.
	 * @param name the full name of the lock
	 * @param run the run that crashed
	 */
	default void onRunCrashed(String name, JobRun run) {
	}

	/**
	 * Called if a planned time of a job was not run, and this instance no longer tries
	 * it. Called in a thread of its own.
	 * @param name the full name of the lock
	 * @param jobId the id of the job
	 * @param plannedAt the planned time, by the clock of the server
	 */
	default void onMissed(String name, String jobId, Instant plannedAt) {
	}

	/**
	 * Called after the last shard of a planned time has ended. Only the instance that ran
	 * that shard is called, in a thread of its scheduler. If the last shard crashed and
	 * is not repeated, no instance is called.
	 * @param name the full name of the lock of the job
	 * @param jobId the id of the job
	 * @param shards what became of the shards
	 */
	default void onShardsOver(String name, String jobId, JobShards shards) {
	}

	/**
	 * Create a listener that publishes the events of locks and jobs as application
	 * events. During shutdown, they reach the event listeners that still exist.
	 * @param context the context that publishes the events
	 * @return the listener
	 */
	static JobListener publishingTo(ConfigurableApplicationContext context) {
		return new JobEventPublisher(context);
	}

	@Override
	default void onNews(String name, Claim.News news) {
		if (news instanceof JobNews.Ended ended) {
			onRunEnded(name, ended.run());
		}
		else if (news instanceof JobNews.Crashed crashed) {
			onRunCrashed(name, crashed.run());
		}
		else if (news instanceof JobNews.Missed missed) {
			onMissed(name, missed.jobId(), missed.plannedAt());
		}
		else if (news instanceof JobNews.ShardsOver over) {
			onShardsOver(name, over.jobId(), over.shards());
		}
	}

}
