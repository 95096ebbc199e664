package dev.dblock.job.method;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.annotation.invocation.UnobservedCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scheduled task that is not known to be a job. A lambda expression does not show which
 * method it calls, so that a locked method behind it is known only when it is called.
 */
final class UnrecognizedTask implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(UnrecognizedTask.class);

	private final Runnable task;

	private final AtomicBoolean warned = new AtomicBoolean();

	UnrecognizedTask(Runnable task) {
		this.task = task;
	}

	@Override
	public void run() {
		UnobservedCalls.during(this.task, this::called);
	}

	/**
	 * Warn of a method that could be a job. One with parameters is given its own lock by
	 * the task, such as that of an order.
	 */
	private void called(Method method) {
		if (method.getParameterCount() == 0 && !this.warned.getAndSet(true)) {
			logger.warn("The scheduled task {} calls {}#{}, whose lock does not know the planned time, so that several"
					+ " instances can run it, one after the other. Add new ScheduledMethodRunnable(bean, method) to the"
					+ " ScheduledTaskRegistrar instead of a lambda expression or a method reference", this.task,
					method.getDeclaringClass().getName(), method.getName());
		}
	}

}
