package dev.dblock.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.LockOperations;
import dev.dblock.autoconfigure.DblockProperties.CheckAtStartup;
import dev.dblock.autoconfigure.DblockProperties.Mode;
import dev.dblock.core.DefaultLockEngine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Checks once whether locks can be acquired: in the background when the application is
 * ready, or, if a failure is to stop the start, before the first phase of the context, so
 * that neither web requests nor scheduled tasks begin.
 */
final class StartupCheck implements SmartLifecycle, ApplicationListener<ApplicationReadyEvent> {

	private static final Logger logger = LoggerFactory.getLogger(StartupCheck.class);

	private final CheckAtStartup setting;

	private final ObjectProvider<LockOperations> locks;

	private final ConfigurableApplicationContext context;

	private volatile boolean running;

	private volatile @Nullable Thread thread;

	/**
	 * Create a check.
	 * @param properties the properties of the application
	 * @param locks the template, which may not exist yet if beans are created lazily
	 * @param context the context whose engines are checked
	 */
	StartupCheck(DblockProperties properties, ObjectProvider<LockOperations> locks,
			ConfigurableApplicationContext context) {
		this.setting = (properties.mode() == Mode.MONGODB) ? properties.checkAtStartup() : CheckAtStartup.FALSE;
		this.locks = locks;
		this.context = context;
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

	@Override
	public void start() {
		this.running = true;
		if (this.setting == CheckAtStartup.FAIL) {
			engines().forEach((database, engine) -> {
				try {
					engine.check();
				}
				catch (RuntimeException ex) {
					throw new InvalidSetupException("No lock can be acquired%s: %s".formatted(database, reason(ex)),
							"The application was not started, because dblock.check-at-startup is fail. Set it to true to"
									+ " start it and to log this as a warning",
							ex);
				}
			});
		}
	}

	@Override
	public void onApplicationEvent(ApplicationReadyEvent event) {
		// A parent context also receives the events of its children
		if (this.setting == CheckAtStartup.TRUE && event.getApplicationContext() == this.context) {
			try {
				Map<String, DefaultLockEngine> engines = engines();
				Thread thread = new Thread(() -> engines.forEach(this::check), "dblock-check");
				thread.setDaemon(true);
				this.thread = thread;
				thread.start();
			}
			catch (RuntimeException ex) {
				warn("", ex);
			}
		}
	}

	/**
	 * Return the engines, by what to add to a message about them.
	 */
	private Map<String, DefaultLockEngine> engines() {
		// With lazy initialization, this creates the default engine
		Object unused = this.locks.getIfUnique();
		CreatedEngines engines = new CreatedEngines(this.context.getBeanFactory());
		Map<String, DefaultLockEngine> found = new LinkedHashMap<>();
		DefaultLockEngine usual = engines.usual();
		if (usual != null) {
			found.put("", usual);
		}
		engines.others().forEach((name, engine) -> found.put(" in the database of '" + name + "'", engine));
		return found;
	}

	private void check(String database, DefaultLockEngine engine) {
		try {
			engine.check();
		}
		catch (RuntimeException ex) {
			warn(database, ex);
		}
	}

	private void warn(String database, RuntimeException ex) {
		if (this.running) {
			logger.warn("No lock can be acquired{}, so methods that need one would fail at present: {}", database,
					reason(ex));
		}
		logger.debug("The check at start-up failed", ex);
	}

	private static String reason(RuntimeException ex) {
		return (ex.getMessage() != null) ? ex.getMessage() : ex.toString();
	}

	@Override
	public void stop() {
		this.running = false;
		Thread thread = this.thread;
		if (thread != null) {
			thread.interrupt();
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

}
