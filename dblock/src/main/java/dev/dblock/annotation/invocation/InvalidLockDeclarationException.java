package dev.dblock.annotation.invocation;

import java.util.List;
import java.util.stream.Collectors;

import dev.dblock.DistributedLock;

/**
 * Methods with {@link DistributedLock @DistributedLock} that could not be locked the way
 * they are declared. At start-up one exception tells of all of them; a class that is not
 * known before its first bean is created is refused then.
 */
public final class InvalidLockDeclarationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient List<String> findings;

	public InvalidLockDeclarationException(List<String> findings) {
		super(findings.stream()
			.collect(Collectors.joining("\n- ", "Locked methods that cannot work as they are declared:\n- ", "")));
		this.findings = List.copyOf(findings);
	}

	/**
	 * What is wrong, one sentence or two for each method and reason: where it is, what it
	 * means, what to do.
	 * @return the findings, at least one
	 */
	public List<String> findings() {
		return this.findings;
	}

}
