package dev.dblock.autoconfigure;

import java.time.Duration;

import dev.dblock.LockInfo;
import dev.dblock.LockUnavailableException;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Responds to a request whose lock is not available with 409 (Conflict). The response
 * contains neither the lock nor its holder, which the client may not be allowed to know.
 * The lowest precedence and the registration by an auto-configuration put it after every
 * advice of the application. It is not final, because aspects of the application may
 * apply to it.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
class LockUnavailableAdvice {

	@ExceptionHandler
	ResponseEntity<ProblemDetail> unavailable(LockUnavailableException ex) {
		ResponseEntity.BodyBuilder response = ResponseEntity.status(HttpStatus.CONFLICT);
		LockInfo holder = ex.holder();
		if (holder != null && holder.remaining().compareTo(Duration.ZERO) > 0) {
			long seconds = holder.remaining().plusSeconds(1).minusNanos(1).toSeconds();
			response.header(HttpHeaders.RETRY_AFTER, Long.toString(seconds));
		}
		return response.body(ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT,
				"Another request or instance is doing this work at the moment. Try again later."));
	}

}
