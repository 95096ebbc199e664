package dev.dblock.job.mongodb;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import dev.dblock.claim.Claim;
import dev.dblock.mongodb.request.LockDocument;
import org.jspecify.annotations.Nullable;

/**
 * The location of one job's run record within the document of its lock.
 */
final class JobFields {

	static final String JOBS = LockDocument.JOBS;

	static final String LAST = "last";

	static final String RUNS = "runs";

	static final String PAUSED = "paused";

	/** When the last pause began; it stays when the job is resumed. */
	static final String PAUSED_FROM = "pausedFrom";

	static final String RESUMED = "resumed";

	static final String PLANNED = "planned";

	static final String ATTEMPT = "attempt";

	static final String FIRING = "firing";

	static final String AGAIN = "again";

	static final String RUN_HOLDER = "holder";

	static final String STARTED = "started";

	static final String ENDED = "ended";

	static final String OUTCOME = "outcome";

	static final String INSTANCE = "instance";

	static final String RUN_TOKEN = "token";

	static final String ERROR = "error";

	/**
	 * Whether the last run of the history crashed, and its crash was not reported before
	 * the grant.
	 */
	static final String AFTER_CRASH = "afterCrash";

	/** The planned time that was settled before that of the run. */
	static final String AFTER = "after";

	/** The schedules of the job on the instance of the run. */
	static final String PLAN = "plan";

	/** How many shards the planned time has; absent if it has none. */
	static final String SHARDS = "shards";

	/** The key of the record in which a planned time of a method was settled. */
	static final String ID = "id";

	/** The planned time of a method that was settled before, or null. */
	static final String BEFORE = "before";

	static final String BY = "by";

	static final String AT = "at";

	private static final String HASHED = "#";

	private static final int LONGEST_NAME = 200;

	private static final int HASH_BYTES = 16;

	private final String key;

	private final String path;

	private final @Nullable String method;

	JobFields(String jobId) {
		this(jobId, null);
	}

	JobFields(Claim.Key key) {
		this(key.id(), key.origin());
	}

	private JobFields(String jobId, @Nullable String method) {
		this.key = key(jobId);
		this.path = JOBS + "." + this.key;
		this.method = (method != null) ? methodField(method) : null;
	}

	/**
	 * Return the field for a method.
	 */
	static String methodField(String method) {
		return LockDocument.METHOD + key(method);
	}

	/**
	 * Return the name of the field of a job. An id that a field path cannot contain is
	 * replaced by a hash.
	 */
	private static String key(String jobId) {
		boolean nameable = jobId.length() <= LONGEST_NAME && !jobId.startsWith(HASHED)
				&& jobId.chars().noneMatch((c) -> c == '.' || c == '$' || c == 0);
		if (nameable) {
			return jobId;
		}
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(jobId.getBytes(StandardCharsets.UTF_8));
			return HASHED + HexFormat.of().formatHex(hash, 0, HASH_BYTES);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java runtime has SHA-256", ex);
		}
	}

	String key() {
		return this.key;
	}

	/**
	 * Return the field for the method of the job; {@code null} if other ids do not
	 * matter.
	 */
	@Nullable String method() {
		return this.method;
	}

	/**
	 * Return the path of the record.
	 */
	String path() {
		return this.path;
	}

	/**
	 * Return the path of a field of the record.
	 */
	String path(String field) {
		return this.path + "." + field;
	}

	/**
	 * Return the path of a field of the last run.
	 */
	String last(String field) {
		return path(LAST) + "." + field;
	}

}
