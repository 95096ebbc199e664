package dev.dblock.job.schedule;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * A locked method of a bean that a scheduler can call. It is a job once its planned times
 * are captured.
 */
public final class JobMethod {

	private final String bean;

	private final String method;

	private final SingletonSupplier<JobDeclaration> declaration;

	private @Nullable Runnable carrying;

	private boolean captured;

	private volatile @Nullable String lock;

	JobMethod(String bean, Class<?> type, String name, Supplier<JobDeclaration> declaration) {
		this.bean = bean;
		this.method = type.getName() + "#" + name;
		this.declaration = SingletonSupplier.of(declaration);
	}

	/**
	 * Where the method is, for messages.
	 */
	String place() {
		return "bean '%s', %s()".formatted(this.bean, this.method);
	}

	/**
	 * What is declared for the job, once the application has started.
	 * @return the same for each call
	 * @throws IllegalArgumentException if the declaration is invalid
	 */
	public JobDeclaration declaration() {
		return this.declaration.obtain();
	}

	String bean() {
		return this.bean;
	}

	String method() {
		return this.method;
	}

	/**
	 * Note the lock of a call, where no other than a call determines it.
	 * @param fullName the full name of the lock
	 */
	public void lockedBy(String fullName) {
		this.lock = fullName;
	}

	/**
	 * The full name of the lock; {@code null} if only a call determines it and there was
	 * none yet.
	 */
	@Nullable String lock() {
		return (this.lock != null) ? this.lock : declaration().lock();
	}

	/**
	 * The id of the job, or the declared name of its lock as long as it has none.
	 */
	String id() {
		String id = declaration().id();
		String lock = lock();
		return (id != null) ? id : (lock != null) ? lock : declaration().template();
	}

	boolean isKnownAs(String id) {
		return id.equals(id()) || (declaration().id() == null && id.equals(declaration().template()));
	}

	/**
	 * Whether the planned times of the method are captured.
	 * @return whether they are
	 */
	public synchronized boolean isCaptured() {
		return this.captured;
	}

	/**
	 * Prepare the bean to carry the scheduler's calls to their locks, as soon as the
	 * method is a job.
	 * @param carrying what prepares it
	 */
	public synchronized void carryOnceCaptured(Runnable carrying) {
		if (this.captured) {
			carrying.run();
		}
		else {
			this.carrying = carrying;
		}
	}

	synchronized void capture() {
		this.captured = true;
		if (this.carrying != null) {
			this.carrying.run();
			this.carrying = null;
		}
	}

}
