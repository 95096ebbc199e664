package dev.dblock.job.schedule;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * A locked method of a bean that a scheduler can call. It is a job once its planned times
 * are captured.
 */
public final class JobMethod {

	private final String place;

	private final SingletonSupplier<JobDeclaration> declaration;

	private @Nullable Runnable carrying;

	private boolean captured;

	JobMethod(String bean, Class<?> type, String name, Supplier<JobDeclaration> declaration) {
		this.place = "bean '%s', %s#%s()".formatted(bean, type.getName(), name);
		this.declaration = SingletonSupplier.of(declaration);
	}

	/**
	 * Where the method is, for messages.
	 */
	String place() {
		return this.place;
	}

	/**
	 * What is declared for the job, once the application has started.
	 * @return the same for each call
	 * @throws IllegalArgumentException if the declaration is invalid
	 */
	public JobDeclaration declaration() {
		return this.declaration.obtain();
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
