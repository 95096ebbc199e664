package dev.dblock.sample.live;

import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Endpoints of the live page. A command can be sent to any instance. The instance that it
 * is for reads it from MongoDB.
 */
@RestController
class LiveController {

	private final LiveFeed feed;

	private final LiveStore store;

	private final JobOperations jobs;

	private final String name;

	LiveController(LiveFeed feed, LiveStore store, JobOperations jobs, @Value("${dblock.acquirer}") String name) {
		this.feed = feed;
		this.store = store;
		this.jobs = jobs;
		this.name = name;
	}

	@GetMapping(path = "/live", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	SseEmitter open() {
		return this.feed.open();
	}

	// JSON only, which a page of another origin cannot send without a preflight request
	@PostMapping(path = "/live/{instance}", consumes = MediaType.APPLICATION_JSON_VALUE)
	@ResponseStatus(HttpStatus.ACCEPTED)
	void command(@PathVariable String instance, @RequestBody Command command) {
		if (!this.store.ask(instance, command.command())) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no instance " + instance);
		}
	}

	@PostMapping(path = "/live/jobs/{job}", consumes = MediaType.APPLICATION_JSON_VALUE)
	JobAnswer change(@PathVariable String job, @RequestBody JobChange change) {
		if (!this.jobs.ids().contains(job)) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no job " + job);
		}
		return switch (change.action()) {
			case PAUSE -> {
				this.jobs.pause(job, "the page of " + this.name);
				yield new JobAnswer("All instances skip " + job + " until it is resumed");
			}
			case RESUME -> new JobAnswer(this.jobs.resume(job) ? job + " is resumed" : job + " was not paused");
			case RUN -> {
				ManualRun run = this.jobs.runNow(job);
				yield new JobAnswer(job + " on " + this.name + ": " + run.description());
			}
		};
	}

	/**
	 * Command for an instance.
	 *
	 * @param command the command
	 */
	record Command(LiveCommand command) {
	}

	/**
	 * Change of a job.
	 *
	 * @param action the action
	 */
	record JobChange(JobAction action) {
	}

	/**
	 * Result of a change.
	 *
	 * @param text a sentence for the page
	 */
	record JobAnswer(String text) {
	}

	/**
	 * Actions of the page on a job.
	 */
	enum JobAction {

		PAUSE, RESUME, RUN

	}

}
