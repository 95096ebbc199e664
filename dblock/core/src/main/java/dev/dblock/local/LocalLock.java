package dev.dblock.local;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecord.LockState;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AskAnswer;
import org.jspecify.annotations.Nullable;

/**
 * The state of one lock: the fields of the corresponding MongoDB document, and the same
 * changes to them. All times are milliseconds of the store's clock. Not thread-safe; the
 * store synchronizes access.
 */
final class LocalLock {

	private static final long TOKENS_PER_MILLI = 1024;

	private static final long FREE = 0;

	private @Nullable String holder;

	private @Nullable String acquirer;

	private @Nullable String thread;

	private @Nullable String why;

	private long token;

	private long acquiredAt;

	private long updatedAt;

	private long expiresAt = FREE;

	private long leaseMillis;

	private long releasedAt;

	private int permits;

	private int earlierPermits;

	/** The requests to the holder to run once more. */
	private Requests requests = new Requests(false);

	private final Map<String, ClaimRecord> records = new HashMap<>();

	boolean isTaken(long now) {
		return this.expiresAt > now;
	}

	/**
	 * Whether nothing is lost if the lock is removed. This is the case once every new
	 * token is greater than those of the past. A holder that has not released the lock
	 * has no rights under a lease that has ended.
	 */
	boolean isForgettable(long now) {
		return this.records.isEmpty() && !isTaken(now) && this.token < now * TOKENS_PER_MILLI;
	}

	AcquireAnswer acquire(AcquireRequest request, long now) {
		boolean mine = request.key().holder().equals(this.holder) && isTaken(now);
		ClaimRecord.Request claim = request.claimRequest();
		ClaimRecord.Decision decision = (claim != null && !mine) ? record(claim.key()).decide(claim, state(now), now)
				: null;
		if (!mine && (isTaken(now) || (decision != null && !decision.granted())
				|| (request.key().permits() == 0 && this.permits > 1))) {
			return new AcquireAnswer.Refused(info(request.key().id(), now),
					(decision != null) ? decision.refusal() : null);
		}
		if (!mine) {
			grant(request, now);
		}
		if (claim != null && decision != null) {
			this.records.put(claim.id(), record(claim.key()).granted(decision, claim, this.token, now));
		}
		return new AcquireAnswer.Granted(this.token - request.tokens() + 1, this.token,
				Instant.ofEpochMilli(this.acquiredAt), false,
				(claim != null) ? record(claim.key()).claimed(claim.id()) : null, request.key().permit(),
				(request.key().permits() > 0 && this.earlierPermits != this.permits) ? this.earlierPermits : 0);
	}

	private ClaimRecord record(Claim.Key key) {
		return this.records.getOrDefault(key.id(), key.empty());
	}

	private LockState state(long now) {
		return new LockState(this.holder, isTaken(now), this.token, this.expiresAt, this.acquiredAt);
	}

	ClaimRecord.@Nullable Status expire(ClaimRecord.Request request, long now) {
		ClaimRecord expired = record(request.key()).expired(request, state(now), now);
		if (expired == null) {
			return null;
		}
		this.records.put(request.id(), expired);
		return status(request.key(), now);
	}

	void pause(Claim.Key key, String by, long now) {
		this.records.put(key.id(), record(key).pausedBy(by, now));
	}

	boolean resume(Claim.Key key, long now) {
		boolean paused = record(key).paused();
		if (paused) {
			this.records.put(key.id(), record(key).resumed(now));
		}
		return paused;
	}

	void forgetRecords() {
		this.records.clear();
	}

	ClaimRecord.Status status(Claim.Key key, long now) {
		return record(key).toStatus(key.id(), state(now), (isTaken(now) && this.holder != null) ? this.acquirer : null,
				now);
	}

	private void grant(AcquireRequest request, long now) {
		this.holder = request.key().holder();
		this.acquirer = request.acquirer();
		this.thread = request.thread();
		this.why = request.why();
		this.token = Math.max(this.token + 1, now * TOKENS_PER_MILLI) + request.tokens() - 1;
		this.acquiredAt = now;
		this.updatedAt = now;
		this.leaseMillis = millis(request.lease());
		this.expiresAt = endOf(this.leaseMillis, now);
		this.releasedAt = 0;
		this.requests = new Requests(request.askable());
		if (request.key().permits() > 0) {
			this.earlierPermits = this.permits;
			this.permits = request.key().permits();
		}
	}

	boolean renew(String by, long now) {
		return prolong(by, Math.max(this.expiresAt, endOf(this.leaseMillis, now)), now);
	}

	boolean extend(String by, Duration atLeast, long now) {
		return prolong(by, Math.max(this.expiresAt, endOf(millis(atLeast), now)), now);
	}

	boolean extendExactly(String by, Duration duration, long now) {
		return prolong(by, endOf(millis(duration), now), now);
	}

	private boolean prolong(String by, long until, long now) {
		if (!by.equals(this.holder) || !isTaken(now)) {
			return false;
		}
		this.expiresAt = until;
		this.updatedAt = now;
		return true;
	}

	boolean release(String by, Duration minHoldLeft, Claim.@Nullable End end, long now) {
		if (!by.equals(this.holder)) {
			return false;
		}
		if (end != null) {
			this.records.replaceAll((id, record) -> record.ended(by, end, now));
		}
		this.holder = null;
		this.releasedAt = now;
		this.expiresAt = minHoldLeft.isZero() ? FREE : endOf(millis(minHoldLeft), now);
		return true;
	}

	AskAnswer ask(String id, long now) {
		return (this.holder != null && isTaken(now)) ? this.requests.add(id) : AskAnswer.NO_HOLDER;
	}

	Optional<String> closeRequests(String by, @Nullable String seen) {
		return by.equals(this.holder) ? this.requests.close(seen) : Optional.empty();
	}

	boolean forceRelease(long now) {
		if (this.holder == null) {
			return false;
		}
		endByForce(this.holder, now);
		this.holder = null;
		this.releasedAt = now;
		return true;
	}

	private void endByForce(String by, long now) {
		this.records.replaceAll((id, record) -> record.ended(by, null, now));
	}

	boolean forceReleaseNow(long now) {
		if (this.holder == null && !isTaken(now)) {
			return false;
		}
		if (this.holder != null) {
			endByForce(this.holder, now);
		}
		this.holder = null;
		this.releasedAt = now;
		this.expiresAt = FREE;
		return true;
	}

	boolean endIn(Duration left, long now) {
		if (!isTaken(now)) {
			return false;
		}
		this.expiresAt = now + millis(left);
		return true;
	}

	LockInfo info(String name, long now) {
		boolean taken = isTaken(now);
		return new LockInfo(name, taken && this.holder != null, this.holder, this.acquirer, this.thread, this.why,
				this.token, instant(this.acquiredAt), instant(this.updatedAt), instant(this.expiresAt),
				instant(this.releasedAt), taken ? Duration.ofMillis(this.expiresAt - now) : Duration.ZERO,
				this.permits);
	}

	private static @Nullable Instant instant(long millis) {
		return (millis != 0) ? Instant.ofEpochMilli(millis) : null;
	}

	// One more, since the clock may have been about to advance to the next millisecond
	private static long endOf(long millis, long now) {
		return now + millis + 1;
	}

	private static long millis(Duration duration) {
		return duration.plusNanos(999_999).toMillis();
	}

	/**
	 * The requests to one holder to run once more.
	 */
	private static final class Requests {

		private final boolean possible;

		private @Nullable String last;

		private boolean closed;

		Requests(boolean possible) {
			this.possible = possible;
		}

		AskAnswer add(String id) {
			if (this.closed) {
				return AskAnswer.NO_HOLDER;
			}
			this.last = this.possible ? id : this.last;
			return this.possible ? AskAnswer.ASKED : AskAnswer.NOT_ASKABLE;
		}

		Optional<String> close(@Nullable String seen) {
			if (!Objects.equals(this.last, seen)) {
				return Optional.ofNullable(this.last);
			}
			this.closed = true;
			return Optional.empty();
		}

	}

}
