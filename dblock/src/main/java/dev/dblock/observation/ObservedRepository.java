package dev.dblock.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.dblock.LockInfo;
import dev.dblock.job.JobStatus;
import dev.dblock.observation.LockObserver.Observed;
import dev.dblock.store.AcquireAnswer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.FenceMark;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;
import dev.dblock.store.ReleaseFeed;
import dev.dblock.store.RunEnd;
import dev.dblock.store.StoreTime;
import dev.dblock.store.TransactionFence;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.reactive.TransactionContext;

/**
 * A store whose renewals and releases are observed.
 */
public final class ObservedRepository implements LockRepository {

	private final LockRepository repository;

	private final LockObservations observations;

	private ObservedRepository(LockRepository repository, LockObservations observations) {
		this.repository = repository;
		this.observations = observations;
	}

	public static LockRepository of(LockRepository repository, LockObservations observations) {
		return observations.areWanted() ? new ObservedRepository(repository, observations) : repository;
	}

	public static LockRepository unwrapped(LockRepository repository) {
		return (repository instanceof ObservedRepository observed) ? observed.repository : repository;
	}

	@Override
	public AcquireAnswer acquire(AcquireRequest request) {
		return this.repository.acquire(request);
	}

	@Override
	public Map<LeaseKey, Optional<LockInfo>> renew(List<LeaseKey> leases, Duration timeout) {
		return observe(LockActivity.RENEW, LockSubject.locks(leases.size()),
				() -> this.repository.renew(leases, timeout),
				(gone) -> gone.isEmpty() ? LockOutcome.RENEWED : LockOutcome.LOST);
	}

	@Override
	public boolean extend(LeaseKey lease, Duration atLeast, Duration timeout) {
		return this.repository.extend(lease, atLeast, timeout);
	}

	@Override
	public boolean extendExactly(LeaseKey lease, Duration duration, Duration timeout) {
		return this.repository.extendExactly(lease, duration, timeout);
	}

	@Override
	public Duration clockAllowance() {
		return this.repository.clockAllowance();
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, Duration timeout) {
		return release(lease, minHoldLeft, FenceMark.KEEP, null, timeout);
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, Duration timeout) {
		return release(lease, minHoldLeft, mark, null, timeout);
	}

	@Override
	public boolean release(LeaseKey lease, Duration minHoldLeft, FenceMark mark, @Nullable RunEnd end,
			Duration timeout) {
		return observe(LockActivity.RELEASE, LockSubject.lock(lease.name(), null, 0),
				() -> this.repository.release(lease, minHoldLeft, mark, end, timeout),
				(held) -> held ? LockOutcome.RELEASED : LockOutcome.LOST);
	}

	private <T> T observe(LockActivity activity, LockSubject subject, Supplier<T> request,
			Function<T, LockOutcome> outcome) {
		Observed observed = this.observations.begin(activity, subject);
		try {
			T answer = request.get();
			this.observations.end(observed, outcome.apply(answer), subject, null);
			return answer;
		}
		catch (RuntimeException | Error ex) {
			this.observations.end(observed, LockOutcome.FAILED, subject, ex);
			throw ex;
		}
	}

	@Override
	public void pauseJob(String name, String jobId, String by) {
		this.repository.pauseJob(name, jobId, by);
	}

	@Override
	public boolean resumeJob(String name, String jobId) {
		return this.repository.resumeJob(name, jobId);
	}

	@Override
	public Optional<JobStatus> findJob(String name, String jobId) {
		return this.repository.findJob(name, jobId);
	}

	@Override
	public Optional<JobStatus> findJob(String name, String jobId, Duration timeout) {
		return this.repository.findJob(name, jobId, timeout);
	}

	@Override
	public Optional<LockInfo> find(String name) {
		return this.repository.find(name);
	}

	@Override
	public Optional<LockInfo> find(String name, Duration timeout) {
		return this.repository.find(name, timeout);
	}

	@Override
	public List<LockInfo> findAll(String prefix) {
		return this.repository.findAll(prefix);
	}

	@Override
	public boolean forceRelease(String name) {
		return this.repository.forceRelease(name);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.repository.forceReleaseNow(name);
	}

	@Override
	public Optional<StoreTime> time(Duration timeout) {
		return this.repository.time(timeout);
	}

	@Override
	public @Nullable TransactionFence fenceFor(PlatformTransactionManager manager) {
		return this.repository.fenceFor(manager);
	}

	@Override
	public @Nullable TransactionFence fenceFor(TransactionContext transaction) {
		return this.repository.fenceFor(transaction);
	}

	@Override
	public ReleaseFeed releases() {
		return this.repository.releases();
	}

}
