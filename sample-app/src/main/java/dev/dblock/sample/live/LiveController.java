package dev.dblock.sample.live;

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

	LiveController(LiveFeed feed, LiveStore store) {
		this.feed = feed;
		this.store = store;
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

	/**
	 * Command for an instance.
	 *
	 * @param command the command
	 */
	record Command(LiveCommand command) {
	}

}
