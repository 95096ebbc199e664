package dev.dblock.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.job.schedule.InvalidJobException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/**
 * Reports why locks made startup fail, and how to fix it.
 */
final class DblockFailureAnalyzer implements FailureAnalyzer {

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		return Stream.iterate(failure, (cause) -> cause != null, Throwable::getCause)
			.map((cause) -> analyze(failure, cause))
			.flatMap(Stream::ofNullable)
			.findFirst()
			.orElse(null);
	}

	private static @Nullable FailureAnalysis analyze(Throwable failure, Throwable cause) {
		if (cause instanceof InvalidSetupException setup) {
			return new FailureAnalysis(setup.description() + ".", setup.action() + ".", cause);
		}
		if (cause instanceof InvalidJobException jobs) {
			return new FailureAnalysis(listed("Jobs cannot run as declared", jobs.findings()),
					"Fix each job as its line above describes.", cause);
		}
		if (cause instanceof InvalidLockDeclarationException methods) {
			return new FailureAnalysis(listed("Locked methods cannot work as declared", methods.findings()),
					"Fix each @DistributedLock, or its method or bean, as its line above describes. The application"
							+ " was not started, because these methods would fail or run unlocked.",
					cause);
		}
		if (cause instanceof AnnotationConfigurationException && isAboutLock(String.valueOf(cause.getMessage()))) {
			// In some cases only the enclosing failure names the class
			return new FailureAnalysis(
					listed("A locked method cannot work as declared, because it is not clear which lock is meant",
							List.of("%s (%s)".formatted(cause.getMessage(), failure.getMessage()))),
					"Correct that annotation: of attributes with the same meaning, such as name and value of"
							+ " @DistributedLock, set only one.",
					cause);
		}
		return null;
	}

	private static String listed(String title, List<String> findings) {
		return findings.stream().collect(Collectors.joining("\n    - ", title + ":\n\n    - ", ""));
	}

	// Spring reads the annotations of each class that it scans, and fails on the first
	// contradictory one, long before locked methods are checked. The name of the
	// annotation is in brackets, like the values
	private static boolean isAboutLock(String message) {
		return Stream.of(message.split("[\\[\\]]")).anyMatch(DblockFailureAnalyzer::isLock);
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
