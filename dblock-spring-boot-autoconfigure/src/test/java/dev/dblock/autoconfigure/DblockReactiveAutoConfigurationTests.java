package dev.dblock.autoconfigure;

import dev.dblock.annotation.invocation.RecordingEngine;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class DblockReactiveAutoConfigurationTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DblockReactiveAutoConfiguration.class))
		.withBean(RecordingEngine.class);

	@Test
	void templateUsesTheEngine() {
		this.contextRunner.run((context) -> {
			String result = context.getBean(ReactiveLockTemplate.class).execute("a", () -> Mono.just("done")).block();
			assertThat(result).isEqualTo("done");
			assertThat(context.getBean(RecordingEngine.class).events()).containsExactly("lock a", "unlock a");
		});
	}

	@Test
	void templateOfTheApplicationIsKept() {
		ReactiveLockTemplate own = new ReactiveLockTemplate(new RecordingEngine());
		this.contextRunner.withBean(ReactiveLockTemplate.class, () -> own)
			.run((context) -> assertThat(context.getBean(ReactiveLockTemplate.class)).isSameAs(own));
	}

	@Test
	void templateNeedsReactor() {
		this.contextRunner.withClassLoader(new FilteredClassLoader("reactor."))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ReactiveLockTemplate.class));
	}

	@Test
	void templateNeedsAnEngine() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DblockReactiveAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ReactiveLockTemplate.class));
	}

}
