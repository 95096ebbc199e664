package dev.dblock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ControllerAdvice;

/**
 * Auto-configuration for the response to a request whose lock is not available, with
 * Spring MVC and WebFlux.
 */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnClass({ ControllerAdvice.class, ProblemDetail.class })
@ConditionalOnSwitch("dblock.web.problem-details")
public final class DblockWebAutoConfiguration {

	@Bean
	LockUnavailableAdvice dblockLockUnavailableAdvice() {
		return new LockUnavailableAdvice();
	}

}
