package dev.dblock.autoconfigure;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

import dev.dblock.DistributedLock;
import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.annotation.AnnotationConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link DblockFailureAnalyzer} with contradictory annotations.
 */
class LockContradictionFailureAnalyzerTests {

	private static FailureAnalysis analyze(String annotation) {
		String message = "Different @AliasFor mirror values for annotation [%s] declared on com.acme.Jobs.run();"
			.formatted(annotation);
		return new DblockFailureAnalyzer()
			.analyze(new IllegalStateException("Cannot read Jobs", new AnnotationConfigurationException(message)));
	}

	@Test
	void reportsTheLibrarysAnnotation() {
		FailureAnalysis analysis = analyze(DistributedLock.class.getName());
		assertThat(analysis.getDescription()).contains("A locked method", "com.acme.Jobs.run()", "(Cannot read Jobs)");
		assertThat(analysis.getAction()).contains("set only one");
	}

	@Test
	void reportsAComposedAnnotation() {
		assertThat(analyze(Nightly.class.getName())).isNotNull();
	}

	@Test
	void leavesOtherAnnotationsAlone() {
		assertThat(analyze(AliasFor.class.getName())).isNull();
		assertThat(analyze("com.acme.Absent")).isNull();
	}

	@DistributedLock
	@Retention(RetentionPolicy.RUNTIME)
	@interface Nightly {

	}

}
