package dev.dblock.sample.live;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

import dev.dblock.LockInfo;
import dev.dblock.event.LockAcquiredEvent;
import dev.dblock.event.LockLostEvent;
import dev.dblock.event.LockReleasedEvent;
import dev.dblock.event.LockRenewedLateEvent;
import dev.dblock.event.LockUnavailableEvent;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobEndedEvent;
import dev.dblock.job.event.JobMissedEvent;
import dev.dblock.job.event.JobStartedEvent;
import dev.dblock.micrometer.LockObservationContext;
import dev.dblock.sample.billing.WriteRefusedEvent;
import dev.dblock.sample.live.LiveEvent.Kind;
import dev.dblock.sample.live.Presence.Waiting;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Records the lock events of this instance. Most come from dblock's application events.
 * Its observations add what these do not include: waiting threads, and the time at which
 * a release was sent. Events are not written to the store here, because this code runs in
 * the working threads.
 */
@Component
class EventRecorder implements ObservationHandler<LockObservationContext> {

	private final BlockingQueue<LiveEvent> unwritten = new LinkedBlockingQueue<>();

	private final Map<String, Long> tokens = new ConcurrentHashMap<>();

	private final Map<String, SentRelease> sentReleases = new ConcurrentHashMap<>();

	private final Map<Observation.Context, Waiting> waiting = new ConcurrentHashMap<>();

	private final String instance;

	EventRecorder(@Value("${dblock.acquirer}") String instance) {
		this.instance = instance;
	}

	void record(Kind kind, @Nullable String text) {
		this.unwritten.add(LiveEvent.of(this.instance, kind, Instant.now(), null, null, text));
	}

	private void record(Kind kind, Instant at, String name, @Nullable Long token, @Nullable String text) {
		this.unwritten.add(LiveEvent.of(this.instance, kind, at, name, token, text));
	}

	/**
	 * Remove and return the events that have not been written yet.
	 */
	List<LiveEvent> drain() {
		List<LiveEvent> events = new ArrayList<>();
		this.unwritten.drainTo(events);
		return events;
	}

	void giveBack(List<LiveEvent> events) {
		this.unwritten.addAll(events);
	}

	List<Waiting> waiting() {
		return this.waiting.values().stream().sorted(Comparator.comparing(Waiting::since)).toList();
	}

	@EventListener
	void acquired(LockAcquiredEvent event) {
		this.tokens.put(event.name(), event.token());
		record(Kind.ACQUIRED, Instant.now(), event.name(), event.token(), null);
	}

	/**
	 * Record a release. The lock was free before this event, as soon as the server had
	 * received the release. The recorded hold therefore ends when the release was sent. A
	 * lock that was handed over within the process was never released on the server.
	 */
	@EventListener
	void released(LockReleasedEvent event) {
		SentRelease sent = this.sentReleases.get(event.name());
		Instant end = (sent != null && sent.token() == event.token()) ? sent.at() : Instant.now();
		record(Kind.RELEASED, end, event.name(), event.token(), null);
	}

	@EventListener
	void unavailable(LockUnavailableEvent event) {
		LockInfo holder = event.refusal().holder();
		record(Kind.UNAVAILABLE, Instant.now(), event.name(), null, (holder != null) ? holder.acquirer() : null);
	}

	@EventListener
	void renewedLate(LockRenewedLateEvent event) {
		record(Kind.RENEWED_LATE, Instant.now(), event.name(), event.token(), event.left().toMillis() + " ms");
	}

	@EventListener
	void lost(LockLostEvent event) {
		record(Kind.LOST, Instant.now(), event.name(), event.token(), event.reason().description());
	}

	@EventListener
	void started(JobStartedEvent event) {
		if (event.run().attempt() > 1) {
			record(Kind.JOB_REPEATED, Instant.now(), event.name(), event.run().token(),
					event.run().plannedAt().toString());
		}
	}

	@EventListener
	void ended(JobEndedEvent event) {
		if (event.run().outcome() == JobRun.Outcome.FAILED) {
			record(Kind.JOB_FAILED, Instant.now(), event.name(), event.run().token(), event.run().error());
		}
	}

	@EventListener
	void missed(JobMissedEvent event) {
		record(Kind.JOB_MISSED, Instant.now(), event.name(), null, event.plannedAt().toString());
	}

	@EventListener
	void refused(WriteRefusedEvent event) {
		String how = event.committing() ? "its commit was refused" : "its own check refused it";
		record(Kind.WRITE_REFUSED, Instant.now(), event.name(), event.token(), event.what() + ": " + how);
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext;
	}

	@Override
	public void onStart(LockObservationContext context) {
		KeyValue name = context.getHighCardinalityKeyValue("dblock.name");
		if (name == null) {
			return;
		}
		if ("dblock.wait".equals(context.getName())) {
			this.waiting.put(context, new Waiting(name.getValue(), Instant.now()));
		}
		else if ("dblock.release".equals(context.getName())) {
			Long token = this.tokens.get(name.getValue());
			if (token != null) {
				this.sentReleases.put(name.getValue(), new SentRelease(token, Instant.now()));
			}
		}
	}

	@Override
	public void onStop(LockObservationContext context) {
		this.waiting.remove(context);
	}

	private record SentRelease(long token, Instant at) {
	}

}
