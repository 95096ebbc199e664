package dev.dblock.job.method;

import java.lang.reflect.Field;

import dev.dblock.job.schedule.ScheduledJobs;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the beans behind the tasks of Spring's scheduler.
 */
final class TargetsOfTasks implements ScheduledJobs.Targets {

	@Override
	public @Nullable Object of(Runnable task) {
		return (unwrapped(task) instanceof ScheduledMethodRunnable runnable) ? innermost(runnable.getTarget()) : null;
	}

	/**
	 * Observe a task of the application. Spring has tasks of its own for methods, both
	 * blocking and reactive.
	 */
	@Override
	public Runnable observed(Runnable task) {
		return isOfSpring(unwrapped(task)) ? task : new UnrecognizedTask(task);
	}

	/**
	 * Return the task itself, without the wrappers in which Spring records the outcome of
	 * each run.
	 */
	private static Runnable unwrapped(Runnable task) {
		Field wrapped = isOfSpring(task) ? ReflectionUtils.findField(task.getClass(), "runnable", Runnable.class)
				: null;
		return (wrapped != null && wrapped.trySetAccessible()
				&& ReflectionUtils.getField(wrapped, task) instanceof Runnable inner) ? unwrapped(inner) : task;
	}

	private static boolean isOfSpring(Runnable task) {
		return task.getClass().getName().startsWith("org.springframework.");
	}

	static Object innermost(Object bean) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		return (target != null) ? innermost(target) : bean;
	}

}
