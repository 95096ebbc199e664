package dev.dblock.annotation.invocation;

import java.util.List;
import java.util.stream.Collectors;

import dev.dblock.DistributedLock;

/**
 * Thrown for methods with {@link DistributedLock @DistributedLock} that cannot be locked
 * as declared. At start-up, one exception reports all of them. A class that is not known
 * before its first bean is created is refused at that time.
 */
public final class InvalidLockDeclarationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient List<String> findings;

	public InvalidLockDeclarationException(List<String> findings) {
		super(findings.stream().collect(Collectors.joining("\n- ", "Locked methods cannot work as declared:\n- ", "")));
		this.findings = List.copyOf(findings);
	}

	/**
	 * Return the problems: one or two sentences for each method and reason, with the
	 * location, the consequence and the fix.
	 * @return the findings, at least one
	 */
	public List<String> findings() {
		return this.findings;
	}

}
