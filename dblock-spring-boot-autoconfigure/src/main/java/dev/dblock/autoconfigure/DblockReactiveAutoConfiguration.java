package dev.dblock.autoconfigure;

import dev.dblock.LockEngine;
import dev.dblock.ReactiveLockTemplate;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * The template for reactive code, where there is Reactor.
 */
@AutoConfiguration(after = DblockAutoConfiguration.class)
@ConditionalOnClass(Mono.class)
@ConditionalOnBean(LockEngine.class)
public final class DblockReactiveAutoConfiguration {

	// Lazy, because without locks no MongoDB is needed
	@Bean
	@Lazy
	@ConditionalOnMissingBean
	ReactiveLockTemplate reactiveLockTemplate(LockEngine engine) {
		return new ReactiveLockTemplate(engine);
	}

}
