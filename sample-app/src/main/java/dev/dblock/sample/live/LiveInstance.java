package dev.dblock.sample.live;

import java.time.Duration;
import java.util.List;

import dev.dblock.LockException;
import dev.dblock.sample.SampleServer;
import dev.dblock.sample.billing.Reports;
import dev.dblock.sample.live.LiveEvent.Kind;
import dev.dblock.sample.live.Presence.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.stereotype.Component;

/**
 * This instance as seen by the others. It writes its presence and its events, and carries
 * out commands.
 */
@Component
class LiveInstance implements DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(LiveInstance.class);

	private static final int EXIT_KILLED = 137;

	private final LiveStore store;

	private final EventRecorder recorder;

	private final Reports reports;

	private final SampleServer server;

	private final AsyncTaskExecutor executor;

	private final ConfigurableApplicationContext context;

	private final LiveSettings settings;

	private final String name;

	private final Ticker ticker = new Ticker("live-instance");

	private volatile State state = State.RUNNING;

	LiveInstance(LiveStore store, EventRecorder recorder, Reports reports, SampleServer server,
			@Qualifier("applicationTaskExecutor") AsyncTaskExecutor executor, ConfigurableApplicationContext context,
			LiveSettings settings, @Value("${dblock.acquirer}") String name) {
		this.store = store;
		this.recorder = recorder;
		this.reports = reports;
		this.server = server;
		this.executor = executor;
		this.context = context;
		this.settings = settings;
		this.name = name;
	}

	@EventListener(ApplicationReadyEvent.class)
	void start() {
		this.recorder.record(Kind.STARTED, "process " + ProcessHandle.current().pid());
		this.ticker.start(this::tick, this.settings.interval());
	}

	private void tick() {
		List<LiveCommand> commands = this.store.tell(new Presence(this.name, port(), ProcessHandle.current().pid(),
				this.state, null, this.server.isHostedHere(), canBePaused(), this.recorder.waiting(), null));
		writeEvents();
		commands.forEach(this::obey);
	}

	private int port() {
		return this.context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
	}

	private boolean canBePaused() {
		return ProcessPause.isPossible() && !this.server.isHostedHere();
	}

	private void writeEvents() {
		List<LiveEvent> events = this.recorder.drain();
		if (events.isEmpty()) {
			return;
		}
		try {
			this.store.insert(events);
		}
		catch (RuntimeException ex) {
			this.recorder.giveBack(events);
			throw ex;
		}
	}

	private void obey(LiveCommand command) {
		logger.info("IS ASKED  to {}", command);
		switch (command) {
			case REPORT -> report(Duration.ZERO);
			case ASK -> report(this.settings.longestWait());
			case PAUSE -> pause();
			case STOP -> new Thread(this.context::close, "live-stop").start();
			case KILL -> Runtime.getRuntime().halt(EXIT_KILLED);
		}
	}

	private void report(Duration wait) {
		this.executor.execute(() -> {
			try {
				this.reports.make(wait);
			}
			catch (LockException ex) {
				logger.info("NO REPORT {}", ex.getMessage());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
	}

	private void pause() {
		if (!canBePaused()) {
			return;
		}
		this.recorder.record(Kind.PAUSED, this.settings.pause().toSeconds() + " s");
		writeEvents();
		this.store.tell(this.name, State.PAUSED);
		try {
			ProcessPause.pause(this.settings.pause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.recorder.record(Kind.RESUMED, null);
	}

	@EventListener
	void stopping(ContextClosedEvent event) {
		if (event.getApplicationContext() == this.context) {
			this.state = State.STOPPING;
			this.recorder.record(Kind.STOPPING, null);
		}
	}

	/**
	 * Lock events after this are not reported.
	 */
	@Override
	public void destroy() {
		this.ticker.close();
		this.recorder.record(Kind.STOPPED, null);
		try {
			writeEvents();
			this.store.tell(this.name, State.STOPPED);
		}
		catch (RuntimeException ex) {
			logger.debug("The stop of this instance could not be reported", ex);
		}
	}

}
