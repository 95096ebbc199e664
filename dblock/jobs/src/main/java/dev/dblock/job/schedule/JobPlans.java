package dev.dblock.job.schedule;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * All schedules of a job on this instance, as one of its tasks sees them.
 */
final class JobPlans {

	private final Supplier<JobPlan> own;

	private volatile Supplier<List<JobPlan>> all = List::of;

	/** All schedules when they were found last. */
	private volatile List<JobPlan> last = List.of();

	private boolean frozen;

	/**
	 * Create the schedules.
	 * @param own the schedule of the task, the only one as long as the others are unknown
	 */
	JobPlans(Supplier<JobPlan> own) {
		this.own = own;
	}

	/**
	 * Set where to find all schedules of the job. Several beans of one class have the
	 * same ones. Once the task is cancelled, none are found: a call that is in progress
	 * then keeps those that it had, as at a shutdown.
	 */
	void find(Supplier<List<JobPlan>> all) {
		this.all = all;
	}

	/**
	 * Find all schedules a last time: from now on, they are cancelled one by one.
	 */
	synchronized void freeze() {
		refresh();
		this.frozen = true;
	}

	private synchronized void refresh() {
		List<JobPlan> found = this.frozen ? List.of() : this.all.get();
		if (!found.isEmpty()) {
			this.last = found;
		}
	}

	/**
	 * Return the different schedules; none as long as they are unknown.
	 */
	Collection<JobPlan> different() {
		refresh();
		return this.last.stream()
			.collect(Collectors.toMap(JobPlan::description, Function.identity(), (one, same) -> one))
			.values();
	}

	/**
	 * Return all schedules as text; {@code null} if one of them has none.
	 */
	@Nullable String text() {
		Collection<JobPlan> different = different();
		return text(different.isEmpty() ? List.of(this.own.get()) : different);
	}

	/**
	 * Return all schedules as text, to be compared with those of other instances;
	 * {@code null} if they are unknown as well.
	 */
	@Nullable String knownText() {
		Collection<JobPlan> different = different();
		return different.isEmpty() ? null : text(different);
	}

	private static @Nullable String text(Collection<JobPlan> plans) {
		Set<String> texts = new TreeSet<>();
		for (JobPlan plan : plans) {
			String text = plan.text();
			if (text == null) {
				return null;
			}
			if (!text.isEmpty()) {
				texts.add(text);
			}
		}
		return String.join("; ", texts);
	}

}
