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

/**
 * Pauses a job as an operator does, in one of the workers: the one that is named in a
 * file, as long as it is.
 */
final class JobPauses {

	private static final Logger logger = LoggerFactory.getLogger(JobPauses.class);

	private final Path requests;

	private final JobOperations jobs;

	private final JobRecords records;

	/** The job that is paused, or about to be. */
	private @Nullable String announced;

	private boolean paused;

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
			// A pause without an answer may have been applied
			if (this.announced != null && !this.announced.equals(requested)) {
				this.jobs.resume(this.announced);
				this.records.paused(What.RESUMED, this.announced);
				this.announced = null;
				this.paused = false;
			}
			if (!requested.isEmpty() && !this.paused) {
				if (this.announced == null) {
					this.announced = requested;
					this.records.paused(What.PAUSED, requested);
				}
				this.jobs.pause(requested, "operator");
				this.paused = true;
			}
		}
		catch (RuntimeException ex) {
			logger.warn("A job could not be paused or resumed", ex);
		}
	}

	private static Path requests(Path folder) {
		return folder.resolve("paused-job");
	}

}
