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
		if (task instanceof ScheduledMethodRunnable runnable) {
			return innermost(runnable.getTarget());
		}
		// Spring records the outcome of each run of a task in a wrapper
		Field wrapped = ReflectionUtils.findField(task.getClass(), "runnable", Runnable.class);
		if (wrapped == null || !wrapped.trySetAccessible()) {
			return null;
		}
		return (ReflectionUtils.getField(wrapped, task) instanceof ScheduledMethodRunnable runnable)
				? innermost(runnable.getTarget()) : null;
	}

	@Override
	public Runnable other(Runnable task) {
		return (of(task) != null) ? task : new OtherTask(task);
	}

	static Object innermost(Object bean) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		return (target != null) ? innermost(target) : bean;
	}

}
