package dev.dblock.faults;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SpanTests {

	private final Span span = new Span(10, 20);

	@Test
	void partIsWithinBoth() {
		assertThat(this.span.within(15, 30)).isEqualTo(new Span(15, 20));
		assertThat(this.span.within(30, 40).isEmpty()).isTrue();
		assertThat(this.span.within(30, 40).nanos()).isZero();
	}

	@Test
	void whatIsTakenOutLeavesWhatIsBeforeAndAfter() {
		assertThat(this.span.without(12, 15)).containsExactly(new Span(10, 12), new Span(15, 20));
		assertThat(this.span.without(0, 15)).containsExactly(new Span(15, 20));
		assertThat(this.span.without(15, 30)).containsExactly(new Span(10, 15));
		assertThat(this.span.without(0, 30)).isEmpty();
		assertThat(this.span.without(20, 30)).containsExactly(this.span);
		assertThat(this.span.without(0, 10)).containsExactly(this.span);
	}

	@Test
	void spansThatTouchAreOne() {
		assertThat(Span.union(List.of(new Span(20, 30), this.span, new Span(12, 14), new Span(40, 50))))
			.containsExactly(new Span(10, 30), new Span(40, 50));
	}

}
