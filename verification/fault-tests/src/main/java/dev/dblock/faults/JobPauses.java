package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

import dev.dblock.faults.JobEvent.What;
import dev.dblock.job.JobOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * Pauses a job as an operator does, in one of the workers: the one that is named in a
 * file, as long as it is.
 */
final class JobPauses {

	private static final Logger logger = LoggerFactory.getLogger(JobPauses.class);

	private final Path requests;

	private final JobOperations jobs;

	private final JobRecords records;

	private @Nullable String paused;

	/** The job that is about to be paused. */
	private @Nullable String announced;

	JobPauses(Path folder, JobOperations jobs, JobRecords records) {
		this.requests = requests(folder);
		this.jobs = jobs;
		this.records = records;
	}

	/**
	 * Request that a job is paused, and no other one.
	 * @param job the job; empty for none
	 */
	static void request(Path folder, String job) throws IOException {
		Path file = Files.createTempFile(folder, "paused", ".new");
		Files.writeString(file, job);
		Files.move(file, requests(folder), StandardCopyOption.ATOMIC_MOVE);
	}

	/**
	 * Pause or resume a job if that was requested. If the server does not answer, that is
	 * repeated.
	 */
	void look() throws IOException {
		String requested = Files.exists(this.requests) ? Files.readString(this.requests) : "";
		try {
			if (this.paused != null && !this.paused.equals(requested)) {
				this.jobs.resume(this.paused);
				this.records.paused(What.RESUMED, this.paused);
				this.paused = null;
			}
			if (this.paused == null && !requested.isEmpty()) {
				if (!requested.equals(this.announced)) {
					this.records.paused(What.PAUSED, requested);
					this.announced = requested;
				}
				this.jobs.pause(requested, "operator");
				this.paused = requested;
				this.announced = null;
			}
		}
		catch (DataAccessException ex) {
			logger.warn("A job could not be paused or resumed", ex);
		}
	}

	private static Path requests(Path folder) {
		return folder.resolve("paused-job");
	}

}
