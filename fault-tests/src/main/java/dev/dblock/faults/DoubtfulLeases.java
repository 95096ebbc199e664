package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import dev.dblock.store.AcquireRequest;

/**
 * The leases on a name of which their acquirers may not have heard, or late: something
 * happened to them, or to the servers, when they were granted.
 */
final class DoubtfulLeases {

	/**
	 * The name of an acquirer: the number of the worker and that of its life.
	 */
	private static final Pattern ACQUIRER = Pattern.compile("worker-(\\d+)-(\\d+)");

	private final History history;

	private final String name;

	private final List<Attempt> claims;

	/**
	 * Look at the leases on a name.
	 * @param history all that is known
	 * @param name the name
	 * @param claims who has entered it
	 */
	DoubtfulLeases(History history, String name, List<Attempt> claims) {
		this.history = history;
		this.name = name;
		this.claims = claims;
	}

	/**
	 * When their acquirers need not have entered: until they did, if they ever did, and
	 * otherwise until such a lease is over.
	 */
	List<Span> spans() {
		List<Span> spans = new ArrayList<>();
		Stretch before = null;
		for (Stretch stretch : this.history.stretches()) {
			if (stretch.name().equals(this.name)) {
				// With the token as it was, no lease was granted
				if (!stretch.isFree() && (before == null || stretch.token() != before.token())) {
					add(spans, stretch, (before != null) ? before.lastNanos() : stretch.firstNanos());
				}
				before = stretch;
			}
		}
		return spans;
	}

	/**
	 * The lease was granted at some time since the servers were looked at before.
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
	 * The document has the last token of the block that was granted, and only the
	 * acquirer knows how many there are: more than usual where threads wait in line. An
	 * earlier lease of the same acquirer that was never seen is not meant: it was over
	 * when this one was seen.
	 */
	private static boolean isOf(Stretch lease, Attempt claim) {
		return claim.token() <= lease.token() && (claim.token() > lease.token() - AcquireRequest.USUAL_TOKENS
				|| claim.heldNanos() >= lease.firstNanos());
	}

}
