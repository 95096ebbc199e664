package dev.dblock.core;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecords;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.StoredJob;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository;

/**
 * The run records of jobs in a store.
 */
public record JobRecords(ClaimRecords records) {

	public static JobRecords of(LockRepository repository) {
		return new JobRecords(repository.claims().orElseThrow());
	}

	public Optional<JobStatus> expire(LeaseKey key, JobFiring firing) {
		ClaimRecord.Request request = new ClaimRecord.Request(firing, firing.key(key.name()), key.holder(), "host-1");
		return this.records.expire(key.name(), request, null).map(JobStatus.class::cast);
	}

	public void pause(String lock, String jobId, String by) {
		this.records.pause(lock, StoredJob.key(jobId), by);
	}

	public boolean resume(String lock, String jobId) {
		return this.records.resume(lock, StoredJob.key(jobId));
	}

	public Optional<JobStatus> find(String lock, String jobId) {
		return this.records.find(lock, StoredJob.key(jobId), null).map(JobStatus.class::cast);
	}

	public Map<String, JobStatus> findAll(Map<String, String> idsByLock) {
		Map<String, Claim.Key> keys = idsByLock.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (each) -> StoredJob.key(each.getValue())));
		return this.records.findAll(keys, null)
			.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (each) -> (JobStatus) each.getValue()));
	}

	public JobStatus lasting(LeaseKey key, String jobId) {
		return (JobStatus) this.records.findLasting(key.name(), StoredJob.key(jobId), null).orElseThrow();
	}

}
