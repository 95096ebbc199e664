package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import dev.dblock.job.JobFiring.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/**
 * The jobs of an application context: the methods that are locked and that a scheduler
 * can call, and the tasks by which it does.
 */
public final class ScheduledJobs {

	private final Map<Place, JobMethod> places = new ConcurrentHashMap<>();

	private final Map<String, Set<JobMethod>> methods = new ConcurrentHashMap<>();

	private final List<Task> tasks = new CopyOnWriteArrayList<>();

	/** The scheduler refers to a task for as long as it is to be called. */
	private final Set<JobTask> live = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	private final Map<String, JobSettings> settings;

	private final StoreClock clock = new StoreClock(System::nanoTime);

	private volatile boolean checked;

	/**
	 * Create the collection.
	 * @param settings what is set for single jobs, by id
	 */
	public ScheduledJobs(Map<String, JobSettings> settings) {
		this.settings = Map.copyOf(settings);
	}

	/**
	 * A method of a bean, the same for all instances of a scoped bean.
	 * @param bean the name of the bean
	 * @param type the user class of the bean
	 * @param name the name of the method, which has no parameters
	 * @param declaration what is declared on it, once the application has started
	 * @return the method
	 */
	public JobMethod method(String bean, Class<?> type, String name, Supplier<JobDeclaration> declaration) {
		return this.places.computeIfAbsent(new Place(bean, type, name),
				(place) -> new JobMethod(bean, type, name, declaration));
	}

	/**
	 * Add a method.
	 * @param task the text by which Spring's task for the method is known
	 * @param method the method
	 */
	public void add(String task, JobMethod method) {
		this.methods.computeIfAbsent(task, (key) -> ConcurrentHashMap.newKeySet()).add(method);
	}

	/**
	 * What is set for a job.
	 * @param id the id of the job, or the name of its lock without any prefix
	 * @return what is set, if anything
	 */
	public JobSettings settings(String id) {
		return this.settings.getOrDefault(id, JobSettings.NONE);
	}

	/**
	 * The methods that a task can be one of; several if several beans have the class.
	 */
	Collection<JobMethod> of(Runnable task) {
		return this.methods.getOrDefault(task.toString(), Set.of());
	}

	/**
	 * Note that the planned times of a task are captured.
	 * @param period the shortest time between two planned times; {@code null} where it is
	 * not known
	 */
	JobTask captured(Runnable task, @Nullable Duration period, JobTask job) {
		Collection<JobMethod> methods = of(task);
		methods.forEach(JobMethod::capture);
		job.alone(() -> methods.size() == 1 && tasks(methods.iterator().next()).size() == 1);
		this.live.add(job);
		if (!this.checked) {
			this.tasks.add(new Task(task, period));
		}
		return job;
	}

	/**
	 * Fire nothing more that would keep the scheduler from shutting down.
	 */
	void close() {
		live().forEach(JobTask::close);
	}

	private List<JobTask> live() {
		synchronized (this.live) {
			return List.copyOf(this.live);
		}
	}

	List<Task> captured() {
		return this.tasks;
	}

	/**
	 * From now on, tasks come and go with the beans that are created later. Those that
	 * are there look at what happened before the start.
	 */
	void checked() {
		if (!this.checked) {
			this.checked = true;
			List<JobTask> tasks = live();
			tasks.forEach((task) -> task.lookBack(tasks));
		}
		this.tasks.clear();
	}

	boolean isCaptured(Runnable task) {
		return this.tasks.stream().anyMatch((each) -> each.runnable() == task);
	}

	/**
	 * The methods whose planned times are captured.
	 */
	List<JobMethod> jobs() {
		return this.places.values().stream().filter(JobMethod::isCaptured).toList();
	}

	/**
	 * The tasks by which the scheduler calls a method.
	 */
	List<JobTask> tasks(JobMethod method) {
		synchronized (this.live) {
			return this.live.stream().filter((task) -> task.isOf(method) && !task.isCancelled()).toList();
		}
	}

	/**
	 * Make a call as a scheduler does for a planned time, and do not repeat it: for
	 * tests. The first job that is called takes the planned time.
	 * @param plannedAt the planned time
	 * @param call what calls the job
	 */
	public void fire(Instant plannedAt, Runnable call) {
		try (SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler()) {
			JobTask task = new JobTask(call, jobs(), scheduler, this.clock);
			task.close();
			task.fire(new Schedule.Planned(plannedAt));
		}
	}

	/**
	 * The server's time as the jobs know it.
	 */
	Instant now() {
		return this.clock.now(Clock.systemUTC());
	}

	StoreClock clock() {
		return this.clock;
	}

	private record Place(String bean, Class<?> type, String name) {
	}

	/**
	 * A task of a job.
	 *
	 * @param runnable the task as it was registered
	 * @param period the shortest time between two planned times; {@code null} where it is
	 * not known
	 */
	record Task(Runnable runnable, @Nullable Duration period) {
	}

}
