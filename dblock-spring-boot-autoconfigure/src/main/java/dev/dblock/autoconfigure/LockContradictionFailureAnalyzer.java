package dev.dblock.autoconfigure;

import java.util.Arrays;

import dev.dblock.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/**
 * Reports a contradictory lock annotation that made startup fail. Spring reads the
 * annotations of each class that it scans, and fails on the first invalid one, long
 * before locked methods are checked. In some cases only the enclosing failure names the
 * class.
 */
final class LockContradictionFailureAnalyzer extends AbstractFailureAnalyzer<AnnotationConfigurationException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, AnnotationConfigurationException cause) {
		String message = String.valueOf(cause.getMessage());
		return isAboutLock(message) ? new FailureAnalysis(
				("A locked method cannot work as declared, because it is not clear which lock is meant:\n\n    - %s"
						+ " (%s)")
					.formatted(message, rootFailure.getMessage()),
				"Correct that annotation: of attributes with the same meaning, such as name and value of"
						+ " @DistributedLock, set only one.",
				cause) : null;
	}

	// The annotation's name is in brackets, like the values
	private static boolean isAboutLock(String message) {
		return Arrays.stream(message.split("[\\[\\]]")).anyMatch(LockContradictionFailureAnalyzer::isLock);
	}

	private static boolean isLock(String name) {
		try {
			Class<?> type = ClassUtils.forName(name, null);
			return type == DistributedLock.class || MergedAnnotations.from(type).isPresent(DistributedLock.class);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return false;
		}
	}

}
