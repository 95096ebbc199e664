package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobOperations.ManualRun.Outcome;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.ShardNames;
import dev.dblock.job.trigger.StoreClock;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;

/**
 * The jobs of an application context: the locked methods that a scheduler can call, and
 * the tasks by which it calls them.
 */
public final class ScheduledJobs {

	private static final String CONFIGURER = "dblockJobSchedulingConfigurer";

	/** How long a test waits for the answer of a job that returns before it. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** How long the scheduler may take for the tasks of one bean. */
	private static final Duration BEAN_CREATION = Duration.ofMillis(100);

	private final Map<Place, JobMethod> places = new ConcurrentHashMap<>();

	private final Map<String, Set<JobMethod>> methods = new ConcurrentHashMap<>();

	private final List<Task> tasks = new CopyOnWriteArrayList<>();

	/**
	 * Weak, since the future of a schedule, which Spring keeps with the bean, refers to
	 * its task.
	 */
	private final Set<JobTask> live = weakSet();

	/** The scheduled methods without a lock that are not reported yet, by task. */
	private final Map<String, Set<String>> unlocked = new ConcurrentHashMap<>();

	private final Set<String> knownUnlocked = ConcurrentHashMap.newKeySet();

	/** The locked methods that the scheduler would call without their proxy, by task. */
	private final Set<String> withoutProxy = ConcurrentHashMap.newKeySet();

	private final Map<String, Settings> settings;

	private final WhenUnlocked whenUnlocked;

	/** The ids for which settings were looked up. */
	private final Set<String> configured = ConcurrentHashMap.newKeySet();

	/** Each engine can have a server of its own. */
	private final Map<LockEngine, StoreClock> clocks = new ConcurrentHashMap<>();

	/** The jobs of all contexts with a common ancestor. */
	private volatile Set<ScheduledJobs> family = weakSet();

	private volatile Consumer<Set<String>> declarations = (findings) -> {
	};

	private volatile Targets targets = Targets.UNKNOWN;

	private volatile boolean scheduling;

	private volatile boolean checked;

	private volatile boolean onlyOnRequest;

	/**
	 * Create the collection.
	 * @param settings the settings for single jobs, by id
	 * @param whenUnlocked how scheduled methods without a lock are reported
	 */
	public ScheduledJobs(Map<String, Settings> settings, WhenUnlocked whenUnlocked) {
		this.settings = Map.copyOf(settings);
		this.whenUnlocked = whenUnlocked;
		this.family.add(this);
	}

	private static <T> Set<T> weakSet() {
		return Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
	}

	private static <T> List<T> copy(Set<T> weak) {
		synchronized (weak) {
			return List.copyOf(weak);
		}
	}

	/**
	 * Create the operations on the jobs of a context and of its ancestors.
	 * @param context the context
	 * @return the operations
	 */
	public static JobOperations operations(ApplicationContext context) {
		List<ScheduledJobs> contexts = new ArrayList<>();
		for (ApplicationContext each = context; each != null; each = each.getParent()) {
			contexts.addAll(each.getBeansOfType(ScheduledJobs.class, false, false).values());
		}
		return new ScheduledJobOperations(contexts);
	}

	/**
	 * Return a post-processor that has the scheduler of a context capture its jobs. It
	 * registers the configurer of the scheduler after all other definitions: configurers
	 * without an order share its order, and then the order of registration counts.
	 * @return the post-processor
	 */
	public static BeanDefinitionRegistryPostProcessor schedulingRegistrar() {
		return (registry) -> {
			if (!registry.containsBeanDefinition(CONFIGURER)) {
				RootBeanDefinition definition = new RootBeanDefinition(JobSchedulingConfigurer.class);
				definition.setAutowireMode(RootBeanDefinition.AUTOWIRE_CONSTRUCTOR);
				definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
				registry.registerBeanDefinition(CONFIGURER, definition);
			}
		};
	}

	/**
	 * Join the family of an ancestor's jobs.
	 */
	void join(ScheduledJobs ancestor) {
		this.family = ancestor.family;
		this.family.add(this);
	}

	List<ScheduledJobs> family() {
		return copy(this.family);
	}

	/**
	 * Return a method of a bean, the same for all instances of a scoped bean.
	 * @param bean the name of the bean
	 * @param type the user class of the bean
	 * @param name the name of the method, which has no parameters
	 * @param declaration the declaration of the method, once the application has started
	 * @return the method
	 */
	public JobMethod method(String bean, Class<?> type, String name, Supplier<JobMethod.Declaration> declaration) {
		return this.places.computeIfAbsent(new Place(bean, type, name),
				(place) -> new JobMethod(bean, type, name, declaration));
	}

	/**
	 * Add a method.
	 * @param task the text that identifies Spring's task for the method
	 * @param method the method
	 */
	public void add(String task, JobMethod method) {
		this.methods.computeIfAbsent(task, (key) -> ConcurrentHashMap.newKeySet()).add(method);
	}

	/**
	 * Add a method that has no lock. It is reported once, if the scheduler calls it.
	 * @param tasks the texts that can identify Spring's task for the method
	 * @param method class and method
	 */
	public void addUnlocked(Set<String> tasks, String method) {
		if (this.knownUnlocked.add(method)) {
			tasks.forEach(
					(task) -> this.unlocked.computeIfAbsent(task, (key) -> ConcurrentHashMap.newKeySet()).add(method));
		}
	}

	/**
	 * Add a locked method of a bean that post-processors receive without its proxy.
	 * @param tasks the texts that can identify Spring's task for the method
	 */
	public void addWithoutProxy(Set<String> tasks) {
		this.withoutProxy.addAll(tasks);
	}

	boolean isWithoutProxy(Runnable task) {
		return this.withoutProxy.contains(task.toString());
	}

	/**
	 * Return the methods without a lock that a task can call, for the first time only.
	 */
	Set<String> takeUnlocked(Runnable task) {
		return Objects.requireNonNullElse(this.unlocked.remove(task.toString()), Set.of());
	}

	/**
	 * Return how scheduled methods without a lock are reported.
	 * @return how they are reported
	 */
	public WhenUnlocked whenUnlocked() {
		return this.whenUnlocked;
	}

	/**
	 * Return the settings for a job.
	 * @param id the id of the job, or the name of its lock without any prefix
	 * @return the settings, which may be empty
	 */
	public Settings settings(String id) {
		this.configured.add(id);
		return this.settings.getOrDefault(id, Settings.NONE);
	}

	/**
	 * Return the ids that have settings, but are no ids of jobs of this context or a
	 * related one.
	 */
	List<String> unusedSettings() {
		return this.settings.keySet()
			.stream()
			.filter((id) -> family().stream().noneMatch((each) -> each.configured.contains(id)))
			.sorted()
			.toList();
	}

	/**
	 * Set the check of the declarations of jobs.
	 * @param check adds its findings to a set, once the scheduler has its tasks
	 */
	public void checkDeclarationsBy(Consumer<Set<String>> check) {
		this.declarations = check;
	}

	/**
	 * Set how the targets of tasks are found.
	 * @param targets finds them
	 */
	public void targets(Targets targets) {
		this.targets = targets;
	}

	Targets targets() {
		return this.targets;
	}

	void checkDeclarations(Set<String> findings) {
		this.declarations.accept(findings);
	}

	void scheduling() {
		this.scheduling = true;
	}

	/**
	 * Whether scheduling is enabled in this context.
	 * @return whether it is
	 */
	public boolean isScheduling() {
		return this.scheduling;
	}

	/**
	 * Whether a method is known to have a lock under which it can be a job.
	 * @param bean the name of the bean
	 * @param type the user class of the bean
	 * @param name the name of the method
	 * @return whether it is
	 */
	public boolean isLocked(String bean, Class<?> type, String name) {
		return this.places.containsKey(new Place(bean, type, name));
	}

	/**
	 * Whether a method has a lock and the scheduler calls it.
	 * @param bean the name of the bean
	 * @param type the user class of the bean
	 * @param name the name of the method
	 * @return whether it does
	 */
	public boolean isScheduled(String bean, Class<?> type, String name) {
		JobMethod method = this.places.get(new Place(bean, type, name));
		return method != null && method.isCaptured();
	}

	/**
	 * Return the methods to which a task can belong; several if several beans have the
	 * class, and the task does not show its bean.
	 */
	Collection<JobMethod> of(Runnable task) {
		Set<JobMethod> methods = this.methods.getOrDefault(task.toString(), Set.of());
		Object target = (methods.size() > 1) ? this.targets.of(task) : null;
		List<JobMethod> own = methods.stream().filter((method) -> target != null && method.isOf(target)).toList();
		return own.isEmpty() ? methods : own;
	}

	/**
	 * Record that the planned times of a task are captured.
	 * @param period the shortest time between two planned times; {@code null} if unknown
	 */
	JobTask captured(Runnable task, @Nullable Duration period, JobTask job) {
		Collection<JobMethod> methods = of(task);
		if (methods.stream()
			.anyMatch((method) -> (methods.size() > 1 || !tasks(method).isEmpty()) && method.isSharded())) {
			throw JobTask.invalidShards(methods);
		}
		methods.forEach(JobMethod::capture);
		job.tasks(() -> (methods.isEmpty() || job.isCancelled()) ? List.of() : tasks(methods.iterator().next()));
		if (this.onlyOnRequest) {
			job.fireOnlyOnRequest();
		}
		this.live.add(job);
		if (!this.checked) {
			this.tasks.add(new Task(task, period));
		}
		return job;
	}

	/**
	 * Stop all firings that would keep the scheduler from shutting down.
	 */
	void close() {
		Collection<JobTask> tasks = copy(this.live);
		// Since a call can still begin
		tasks.forEach((task) -> task.plans().freeze());
		tasks.forEach(JobTask::close);
	}

	List<Task> captured() {
		return this.tasks;
	}

	/**
	 * Complete the startup. From now on, tasks are added and removed with beans that are
	 * created later. The jobs check for unfinished work from before the start.
	 */
	void checked() {
		if (!this.checked) {
			this.checked = true;
			if (!this.onlyOnRequest) {
				scheduled().forEach((method) -> LookBack.begin(method, tasks(method)));
			}
		}
		this.tasks.clear();
	}

	/**
	 * Check for unfinished work from before a bean was created after the startup, once
	 * the scheduler has all tasks of the bean.
	 */
	void addedLate(JobTask task) {
		for (JobMethod method : task.methods()) {
			boolean first = tasks(method).stream().filter((each) -> each.plan().plansInstants()).count() == 1;
			if (!this.onlyOnRequest && first) {
				task.timer().startBeside(task.now().plus(BEAN_CREATION), () -> LookBack.begin(method, tasks(method)));
			}
		}
	}

	boolean isChecked() {
		return this.checked;
	}

	boolean isCaptured(Runnable task) {
		return this.tasks.stream().anyMatch((each) -> each.runnable() == task);
	}

	/**
	 * Return the methods whose planned times are captured.
	 */
	List<JobMethod> jobs() {
		return this.places.values().stream().filter(JobMethod::isCaptured).toList();
	}

	/**
	 * Return the methods that a scheduler calls now.
	 */
	Set<JobMethod> scheduled() {
		return copy(this.live).stream()
			.filter((task) -> !task.isCancelled())
			.flatMap((task) -> task.methods().stream())
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Return the tasks by which the scheduler calls a method.
	 */
	List<JobTask> tasks(JobMethod method) {
		return copy(this.live).stream()
			.filter((task) -> task.methods().contains(method) && !task.isCancelled())
			.toList();
	}

	/**
	 * Call jobs only when a test or an operator requests it, not by their schedules: for
	 * tests. Applies to schedules that begin later.
	 */
	public void fireOnlyOnRequest() {
		this.onlyOnRequest = true;
	}

	/**
	 * Whether the scheduler of this context calls a job: for tests. A job whose lock only
	 * a call determines can be any.
	 * @param id the id of the job, or of one of its shards
	 * @param lock the full name of its lock
	 * @return whether it can
	 */
	public boolean canHave(String id, String lock) {
		return jobs().stream()
			.anyMatch((method) -> method.declaration().lock() == null || ShardNames.jobOf(id).equals(method.storedId())
					|| lock.equals(method.lock()));
	}

	/**
	 * Make a call as a scheduler does for a planned time, without repeating it: for
	 * tests. The first job that is called takes the planned time.
	 * @param plannedAt the planned time
	 * @param call calls the job
	 * @return the result; {@code null} if no job was called
	 */
	public @Nullable ManualRun fire(Instant plannedAt, Runnable call) {
		CompletableFuture<ManualRun> result = new CompletableFuture<>();
		BoundCall firing;
		try (SimpleAsyncTaskScheduler scheduler = new SimpleAsyncTaskScheduler()) {
			JobTask task = new JobTask(call, jobs(), scheduler, new StoreClock(System::nanoTime));
			firing = new BoundCall(task, JobRequest.first(new Schedule.Planned(plannedAt)), result::complete);
			firing.run(call);
		}
		if (!firing.isTaken()) {
			return null;
		}
		ManualRun unanswered = new ManualRun(Outcome.FAILED,
				"Its lock was not requested, or not answered within " + Durations.readable(PATIENCE));
		return result.completeOnTimeout(unanswered, PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
	}

	/**
	 * Return the clock of the server that stores the locks of jobs, as the jobs know it.
	 * @param methods jobs with one engine
	 */
	StoreClock clock(Collection<JobMethod> methods) {
		try {
			return this.clocks.computeIfAbsent(methods.iterator().next().declaration().engine(),
					(engine) -> new StoreClock(System::nanoTime));
		}
		catch (IllegalArgumentException ex) {
			// The startup fails because of the declaration
			return new StoreClock(System::nanoTime);
		}
	}

	/**
	 * How to report scheduled methods without a lock, which every instance runs.
	 */
	public enum WhenUnlocked {

		/**
		 * Not at all.
		 */
		IGNORE,

		/**
		 * In the log, if the application has a job.
		 */
		LOG,

		/**
		 * As a failure of the start. Methods of beans that are created later are only
		 * logged.
		 */
		FAIL

	}

	/**
	 * The settings for a single job. They override the declarations on its method.
	 *
	 * @param whenCrashed what happens to the planned time of a run that crashed;
	 * {@code null} if not set
	 * @param whenMissed what happens to planned times at which no instance was available;
	 * {@code null} if not set
	 * @param startWithin how long after its planned time the job can start; {@code null}
	 * if not set
	 * @param whenClockChanges what is planned when the clocks of the time zone change;
	 * {@code null} if not set
	 */
	public record Settings(@Nullable WhenCrashed whenCrashed, @Nullable WhenMissed whenMissed,
			@Nullable Duration startWithin, @Nullable WhenClockChanges whenClockChanges) {

		/** Empty settings. */
		static final Settings NONE = new Settings(null, null, null, null);

	}

	/**
	 * Record the lock of a call, if only a call determines it.
	 * @param method the method
	 * @param fullName the full name of the lock
	 * @throws IllegalStateException if another job has the same lock and no id of its own
	 */
	public void lockedBy(JobMethod method, String fullName) {
		method.lockedBy(fullName);
		if (method.declaration().id() != null) {
			return;
		}
		for (ScheduledJobs context : family()) {
			for (JobMethod other : context.scheduled()) {
				if (other != method && other.declaration().id() == null && fullName.equals(other.lock())
						&& other.declaration().engine() == method.declaration().engine()) {
					throw new IllegalStateException(("%s and %s are different jobs whose locks are both '%s', so each"
							+ " planned time would run only one of them; give each its own id with"
							+ " @JobPolicy(id = …), or give the locks different names")
						.formatted(method.place(), other.place(), fullName));
				}
			}
		}
	}

	/**
	 * Finds the beans behind the tasks of a scheduler.
	 */
	public interface Targets {

		/** Finds nothing. */
		Targets UNKNOWN = (task) -> null;

		/**
		 * Return the object whose method a task calls.
		 * @param task the task
		 * @return the object, without the proxies in front of it; {@code null} if the
		 * task does not show that
		 */
		@Nullable Object of(Runnable task);

		/**
		 * Observe a task that is not known to be a job.
		 * @param task the task
		 * @return what to run instead of it
		 */
		default Runnable observed(Runnable task) {
			return task;
		}

	}

	private record Place(String bean, Class<?> type, String name) {
	}

	/**
	 * A task of a job.
	 *
	 * @param runnable the task as it was registered
	 * @param period the shortest time between two planned times; {@code null} if unknown
	 */
	record Task(Runnable runnable, @Nullable Duration period) {
	}

}
