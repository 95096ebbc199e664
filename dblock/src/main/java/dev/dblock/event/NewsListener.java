package dev.dblock.event;

import dev.dblock.claim.Claim;
import dev.dblock.job.JobNews;

/**
 * Listener that is notified of all news about claims by one method. Internal: can change
 * in any release.
 */
public interface NewsListener extends LockListener {

	/**
	 * Called with news about claims.
	 * @param name the full name of the lock
	 * @param news the news
	 */
	void onNews(String name, Claim.News news);

	/**
	 * Notify a listener by the method for the kind of news.
	 * @param listener the listener
	 * @param name the full name of the lock
	 * @param news the news
	 */
	static void notify(LockListener listener, String name, Claim.News news) {
		if (listener instanceof NewsListener all) {
			all.onNews(name, news);
		}
		else if (news instanceof JobNews.Ended ended) {
			listener.onRunEnded(name, ended.run());
		}
		else if (news instanceof JobNews.Crashed crashed) {
			listener.onRunCrashed(name, crashed.run());
		}
		else if (news instanceof JobNews.Missed missed) {
			listener.onMissed(name, missed.jobId(), missed.plannedAt());
		}
	}

}
