package dev.dblock.sample.live;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.LockInfo;
import dev.dblock.LockOperations;
import dev.dblock.sample.SampleServer;
import dev.dblock.sample.billing.BillingFigures;
import dev.dblock.sample.billing.BillingFigures.Figures;
import dev.dblock.sample.live.LiveEvent.Kind;
import dev.dblock.sample.live.LiveState.EventView;
import dev.dblock.sample.live.LiveState.InstanceView;
import dev.dblock.sample.live.LiveState.LockView;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Reads from MongoDB several times a second, and sends the state to all pages that this
 * instance serves.
 */
@Component
class LiveFeed implements DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(LiveFeed.class);

	private static final Duration FORGET_EVERY = Duration.ofSeconds(20);

	/** A process that was paused stores its pending events late. */
	private static final Duration LOOK_BACK = Duration.ofSeconds(30);

	/**
	 * The number of tokens that a grant reserves, for the threads to which the lock is
	 * handed over.
	 */
	private static final long TOKENS_OF_A_GRANT = 1024;

	private static final int MOST_LOCKS = 1000;

	private final LiveStore store;

	private final LockOperations locks;

	private final BillingFigures figures;

	private final SampleServer server;

	private final LiveSettings settings;

	private final String name;

	private final ExpiredLeases expiredLeases = new ExpiredLeases();

	private final Map<String, EventView> history = new LinkedHashMap<>();

	private final List<SseEmitter> newcomers = new CopyOnWriteArrayList<>();

	private final List<SseEmitter> pages = new CopyOnWriteArrayList<>();

	private final Ticker ticker = new Ticker("live-feed");

	private @Nullable Instant forgotAt;

	private volatile boolean closing;

	LiveFeed(LiveStore store, LockOperations locks, BillingFigures figures, SampleServer server, LiveSettings settings,
			@Value("${dblock.acquirer}") String name) {
		this.store = store;
		this.locks = locks;
		this.figures = figures;
		this.server = server;
		this.settings = settings;
		this.name = name;
	}

	@EventListener(ApplicationReadyEvent.class)
	void start() {
		this.ticker.start(this::tick, this.settings.interval());
	}

	SseEmitter open() {
		SseEmitter page = new SseEmitter(0L);
		Runnable leave = () -> {
			this.pages.remove(page);
			this.newcomers.remove(page);
		};
		page.onCompletion(leave);
		page.onError((ex) -> leave.run());
		this.newcomers.add(page);
		if (this.closing) {
			page.complete();
		}
		return page;
	}

	private void tick() {
		Instant now = Instant.now();
		List<LockInfo> locks = this.locks.listAll("", MOST_LOCKS).locks();
		List<EventView> events = newEvents(now);
		for (LockInfo lock : this.expiredLeases.look(locks, now, this::isToldReleased)) {
			this.store.save(LiveEvent.expired(Objects.requireNonNullElse(lock.acquirer(), "?"), lock.name(),
					lock.token(), Objects.requireNonNullElse(lock.expiresAt(), now)));
		}
		tell(events, locks);
		forget(now);
	}

	private List<EventView> newEvents(Instant now) {
		Duration back = this.history.isEmpty() ? this.settings.history() : LOOK_BACK;
		List<EventView> events = new ArrayList<>();
		for (LiveEvent event : this.store.storedSince(now.minus(back))) {
			EventView view = EventView.of(event);
			if (this.history.putIfAbsent(view.id(), view) == null) {
				events.add(view);
			}
		}
		return events;
	}

	/**
	 * Return whether a release has been reported. A lock that was handed from thread to
	 * thread in its process has a token and a release for each of them. The last one
	 * counts.
	 */
	private boolean isToldReleased(LockInfo lock) {
		long released = lastTold(Kind.RELEASED, lock);
		return released > 0 && released >= lastTold(Kind.ACQUIRED, lock);
	}

	private long lastTold(Kind kind, LockInfo lock) {
		return this.history.values()
			.stream()
			.filter((event) -> event.kind() == kind && lock.name().equals(event.name()))
			.mapToLong((event) -> Objects.requireNonNullElse(event.token(), 0L))
			.filter((token) -> token <= lock.token() && token > lock.token() - TOKENS_OF_A_GRANT)
			.max()
			.orElse(0);
	}

	private void tell(List<EventView> events, List<LockInfo> locks) {
		if (this.pages.isEmpty() && this.newcomers.isEmpty()) {
			return;
		}
		LiveState state = state(events, locks);
		this.pages.forEach((page) -> send(page, state));
		for (SseEmitter page : this.newcomers) {
			this.newcomers.remove(page);
			this.pages.add(page);
			send(page, state.withEvents(List.copyOf(this.history.values())));
		}
	}

	private LiveState state(List<EventView> events, List<LockInfo> locks) {
		List<Presence> presences = this.store.presences();
		Instant serverNow = presences.stream()
			.filter((presence) -> presence.id().equals(this.name))
			.map(Presence::seenAt)
			.findFirst()
			.orElse(null);
		Figures figures = this.figures.count();
		return new LiveState(this.name, System.currentTimeMillis(), this.server.description(),
				this.server.hasTransactions(), this.settings.pause().toMillis(),
				presences.stream().map((presence) -> InstanceView.of(presence, serverNow)).toList(),
				locks.stream().map(LockView::of).toList(), figures, events);
	}

	private void send(SseEmitter page, LiveState state) {
		try {
			page.send(SseEmitter.event().data(state, MediaType.APPLICATION_JSON));
		}
		catch (IOException | IllegalStateException ex) {
			logger.debug("A page was closed", ex);
			this.pages.remove(page);
		}
	}

	private void forget(Instant now) {
		if (this.forgotAt != null && now.isBefore(this.forgotAt.plus(FORGET_EVERY))) {
			return;
		}
		this.forgotAt = now;
		long oldest = now.minus(this.settings.history()).toEpochMilli();
		this.history.values().removeIf((event) -> event.at() < oldest);
		this.store.createIndex();
		this.store.forget(this.settings.history(), now);
	}

	/**
	 * Complete all pages, because the web server would wait for open ones.
	 */
	@EventListener(ContextClosedEvent.class)
	void stopping() {
		this.closing = true;
		this.pages.forEach(SseEmitter::complete);
		this.newcomers.forEach(SseEmitter::complete);
	}

	@Override
	public void destroy() {
		this.ticker.close();
	}

}
