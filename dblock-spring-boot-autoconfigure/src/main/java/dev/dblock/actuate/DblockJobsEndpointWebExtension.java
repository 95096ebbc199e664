package dev.dblock.actuate;

import dev.dblock.job.JobInfo;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * Responds to requests over HTTP to the endpoint {@code dblockjobs}: maps the results of
 * requests to change a job to HTTP status codes.
 */
@SuppressWarnings("deprecation")
@EndpointWebExtension(endpoint = DblockJobsEndpoint.class)
final class DblockJobsEndpointWebExtension {

	private static final int ACCEPTED = 202;

	private static final int CONFLICT = 409;

	private final DblockJobsEndpoint endpoint;

	DblockJobsEndpointWebExtension(DblockJobsEndpoint endpoint) {
		this.endpoint = endpoint;
	}

	/**
	 * Return one job with its last twenty runs.
	 * @param path the id of the job
	 * @return the job; {@code null} if there is no such job
	 */
	@ReadOperation
	@Nullable ReadBody job(@Selector(match = Match.ALL_REMAINING) String[] path) {
		JobInfo job = this.endpoint.job(path);
		return (job != null) ? new ReadBody(job, null) : null;
	}

	/**
	 * Pause, resume or run a job.
	 * @param path the id of the job
	 * @param action the name of the action
	 * @param by the operator's name, used unless the caller is authenticated
	 * @param security the caller
	 * @return the result
	 */
	@WriteOperation
	WebEndpointResponse<JobChange> change(@Selector(match = Match.ALL_REMAINING) String[] path,
			@org.springframework.lang.Nullable @Nullable String action,
			@org.springframework.lang.Nullable @Nullable String by, SecurityContext security) {
		JobChange change = this.endpoint.change(path, action, by, security);
		return new WebEndpointResponse<>(change, switch (change.result()) {
			case DONE -> WebEndpointResponse.STATUS_OK;
			case ACCEPTED -> ACCEPTED;
			case REFUSED -> CONFLICT;
			case FAILED -> WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE;
			case INVALID -> WebEndpointResponse.STATUS_BAD_REQUEST;
			case UNKNOWN -> WebEndpointResponse.STATUS_NOT_FOUND;
		});
	}

}
