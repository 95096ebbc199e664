package dev.dblock.job.schedule;

import java.util.List;

/**
 * Stops the start of an application whose jobs cannot run once per planned time.
 */
@SuppressWarnings("serial")
public final class InvalidJobException extends IllegalStateException {

	private final List<String> findings;

	InvalidJobException(List<String> findings) {
		super("Jobs cannot run as they are declared: " + String.join("; ", findings));
		this.findings = List.copyOf(findings);
	}

	/**
	 * What is wrong, and what to do about it.
	 * @return one text for each
	 */
	public List<String> findings() {
		return this.findings;
	}

}
