package dev.dblock.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Time from one instant to another.
 *
 * @param from the beginning
 * @param to the end
 */
record Span(long from, long to) {

	boolean isEmpty() {
		return this.from >= this.to;
	}

	boolean contains(long instant) {
		return instant >= this.from && instant < this.to;
	}

	long nanos() {
		return isEmpty() ? 0 : this.to - this.from;
	}

	Span within(long from, long to) {
		return new Span(Math.max(this.from, from), Math.min(this.to, to));
	}

	List<Span> without(long from, long to) {
		List<Span> rest = new ArrayList<>();
		for (Span part : List.of(new Span(this.from, Math.min(this.to, from)),
				new Span(Math.max(this.from, to), this.to))) {
			if (!part.isEmpty()) {
				rest.add(part);
			}
		}
		return rest;
	}

	static List<Span> union(List<Span> spans) {
		List<Span> union = new ArrayList<>();
		for (Span span : spans.stream().sorted(Comparator.comparingLong(Span::from)).toList()) {
			Span last = union.isEmpty() ? null : union.get(union.size() - 1);
			if (last != null && span.from <= last.to) {
				union.set(union.size() - 1, new Span(last.from, Math.max(last.to, span.to)));
			}
			else {
				union.add(span);
			}
		}
		return union;
	}

}
