package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.dblock.store.AcquireRequest;

/**
 * Leases on a name whose acquirers may have received the grant late or never, because the
 * acquirer or the servers were disturbed at the time of the grant.
 */
final class DoubtfulLeases {

	/**
	 * Name of an acquirer: the number of the worker and the number of its process.
	 */
	private static final Pattern ACQUIRER = Pattern.compile("worker-(\\d+)-(\\d+)");

	private final History history;

	private final String name;

	private final List<Attempt> claims;

	/**
	 * Find the leases on a name.
	 * @param history the history of the run
	 * @param name the name
	 * @param claims the attempts that have entered it
	 */
	DoubtfulLeases(History history, String name, List<Attempt> claims) {
		this.history = history;
		this.name = name;
		this.claims = claims;
	}

	/**
	 * Return the times in which the acquirers need not have entered. They end when the
	 * acquirer entered, or with the lease if it never did.
	 */
	List<Span> spans() {
		List<Span> spans = new ArrayList<>();
		Stretch before = null;
		for (Stretch stretch : this.history.stretches()) {
			if (stretch.name().equals(this.name)) {
				// An unchanged token means that no lease was granted
				if (!stretch.isFree() && (before == null || stretch.token() != before.token())) {
					add(spans, stretch, (before != null) ? before.lastNanos() : stretch.firstNanos());
				}
				before = stretch;
			}
		}
		return spans;
	}

	/**
	 * Add the time of a lease, which was granted at some time since the servers were last
	 * checked.
	 */
	private void add(List<Span> spans, Stretch stretch, long lookedNanos) {
		Matcher acquirer = ACQUIRER.matcher(String.valueOf(stretch.holder()));
		if (!acquirer.matches()) {
			return;
		}
		int worker = Integer.parseInt(acquirer.group(1));
		int life = Integer.parseInt(acquirer.group(2));
		Span grant = new Span(Math.min(lookedNanos, stretch.firstNanos()) - EmptyLocks.LAG_NANOS,
				stretch.firstNanos() + EmptyLocks.LAG_NANOS);
		if (this.history.isDisturbed(worker, grant)) {
			long end = stretch.firstNanos() + LockName.untilFree(this.name).toNanos();
			Span span = new Span(stretch.firstNanos(), Math.min(end, entered(stretch, worker, life).orElse(end)));
			if (!span.isEmpty()) {
				spans.add(span);
			}
		}
	}

	private OptionalLong entered(Stretch lease, int worker, int life) {
		return this.claims.stream()
			.filter((claim) -> claim.worker() == worker && claim.life() == life && isOf(lease, claim))
			.mapToLong(Attempt::enterNanos)
			.min();
	}

	/**
	 * Return whether a claim belongs to a lease. The document has the last token of the
	 * granted block. Only the acquirer knows the size of the block, which is larger than
	 * usual if threads wait in line. An earlier lease of the same acquirer that was never
	 * observed does not count, because it was over when this one was observed.
	 */
	private static boolean isOf(Stretch lease, Attempt claim) {
		return claim.token() <= lease.token() && (claim.token() > lease.token() - AcquireRequest.USUAL_TOKENS
				|| claim.heldNanos() >= lease.firstNanos());
	}

}
