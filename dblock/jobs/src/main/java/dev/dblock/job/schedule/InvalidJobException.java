package dev.dblock.job.schedule;

import java.util.Collection;
import java.util.List;

/**
 * Thrown at startup if the jobs of an application cannot run once per planned time.
 */
@SuppressWarnings("serial")
public final class InvalidJobException extends IllegalStateException {

	private final List<String> findings;

	InvalidJobException(Collection<String> findings) {
		super("Jobs cannot run as declared: " + String.join("; ", findings));
		this.findings = List.copyOf(findings);
	}

	/**
	 * Return the problems and how to fix them.
	 * @return one text for each problem
	 */
	public List<String> findings() {
		return this.findings;
	}

}
