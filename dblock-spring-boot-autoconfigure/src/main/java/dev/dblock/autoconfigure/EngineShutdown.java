package dev.dblock.autoconfigure;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;

import dev.dblock.core.DefaultLockEngine;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;
import org.springframework.scheduling.TaskScheduler;

/**
 * Shutdown of an engine. When its own context begins to close, no caller waits for a lock
 * any longer. Held locks are still renewed until the executors have completed their
 * tasks. Then the engine is destroyed, and after it the beans that its repository depends
 * on. A lifecycle phase of the context cannot do this: if an executor waits for its
 * tasks, they outlive all phases.
 */
final class EngineShutdown implements ApplicationListener<ContextClosedEvent>, Ordered {

	private final ApplicationContext context;

	private final DefaultLockEngine engine;

	private EngineShutdown(ApplicationContext context, DefaultLockEngine engine) {
		this.context = context;
		this.engine = engine;
	}

	static void arrange(ConfigurableApplicationContext context, DefaultLockEngine engine, String engineName,
			String repositoryName) {
		ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
		beanFactory.registerDependentBean(repositoryName, engineName);
		Set<String> neededByRepository = new HashSet<>();
		collectDependencies(beanFactory, repositoryName, neededByRepository);
		for (Class<?> type : new Class<?>[] { Executor.class, TaskScheduler.class }) {
			for (String executorName : beanFactory.getBeanNamesForType(type, false, false)) {
				if (!neededByRepository.contains(executorName)) {
					beanFactory.registerDependentBean(engineName, executorName);
				}
			}
		}
		context.addApplicationListener(new EngineShutdown(context, engine));
	}

	private static void collectDependencies(ConfigurableListableBeanFactory beanFactory, String name,
			Set<String> found) {
		for (String dependency : beanFactory.getDependenciesForBean(name)) {
			if (found.add(dependency)) {
				collectDependencies(beanFactory, dependency, found);
			}
		}
	}

	// Other listeners may wait for their threads, which may in turn wait for a lock
	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		// A parent context also receives the events of its children
		if (event.getApplicationContext() == this.context) {
			this.engine.refuseWaiters();
		}
	}

}
