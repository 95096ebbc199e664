package dev.dblock.autoconfigure;

import java.time.Duration;

import dev.dblock.LockInfo;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.store.BusyStoreException;
import dev.dblock.store.StoreFailureException;
import dev.dblock.store.StoreTimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;

/**
 * Responds to a request whose lock is not available with 409 (Conflict), and with 503
 * (Service Unavailable) if the store of the locks did not serve it. The response contains
 * neither the lock nor its holder nor the store, which the client may not be allowed to
 * know. The lowest precedence and the registration by an auto-configuration put it after
 * every advice of the application. An exception with a status of its own, of which that
 * of dblock is the cause, is left to Spring. It is not final, because aspects of the
 * application may apply to it.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
class LockUnavailableAdvice {

	private static final Logger logger = LoggerFactory.getLogger(LockUnavailableAdvice.class);

	/** An election takes about as long. */
	private static final String SECONDS_OF_AN_OUTAGE = "10";

	@ExceptionHandler(LockUnavailableException.class)
	ResponseEntity<ProblemDetail> unavailable(Exception thrown, LockUnavailableException ex) throws Exception {
		checkStatus(thrown);
		ResponseEntity.BodyBuilder response = ResponseEntity.status(HttpStatus.CONFLICT);
		LockInfo holder = ex.holder();
		if (holder != null && holder.remaining().compareTo(Duration.ZERO) > 0) {
			long seconds = holder.remaining().plusSeconds(1).minusNanos(1).toSeconds();
			response.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds));
		}
		return response.body(ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT,
				"Another request or instance is doing this work at the moment. Try again later."));
	}

	/**
	 * Respond to a failure that may pass, of a request that dblock has sent. A refused
	 * login or a missing privilege does not pass, and failures of the application's own
	 * requests have other types.
	 */
	@ExceptionHandler({ StoreFailureException.class, StoreTimeoutException.class, BusyStoreException.class,
			LockShutdownException.class })
	ResponseEntity<ProblemDetail> notServed(Exception ex) throws Exception {
		checkStatus(ex);
		// Spring logs exceptions only if they are not handled
		logger.warn("A web request was answered with 503: {}", ex.getMessage());
		logger.debug("The failure of that request", ex);
		return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE)
			.header(HttpHeaders.RETRY_AFTER, SECONDS_OF_AN_OUTAGE)
			.body(ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE,
					"This work cannot be coordinated with other instances at the moment. Try again later."));
	}

	/**
	 * Throw an exception again if it has a status that the application has chosen. Spring
	 * handles it then as if there were no advice.
	 */
	private static void checkStatus(Exception thrown) throws Exception {
		for (Throwable each = thrown; each != null; each = each.getCause()) {
			if (each instanceof ErrorResponse
					|| AnnotatedElementUtils.hasAnnotation(each.getClass(), ResponseStatus.class)) {
				throw thrown;
			}
		}
	}

}
