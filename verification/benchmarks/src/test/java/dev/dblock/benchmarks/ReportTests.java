package dev.dblock.benchmarks;

import java.util.List;
import java.util.Map;

import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

class ReportTests {

	@Test
	void theSpreadOfRatiosIsThatOfEachRound() {
		Spread ratio = Spread.ofRatios(List.of(2.0, 30.0, 4.0, 5.0, 6.0), List.of(1.0, 10.0, 1.0, 1.0, 1.0));
		assertThat(ratio.median()).isEqualTo(4);
		assertThat(ratio.lower()).isEqualTo(3);
		assertThat(ratio.upper()).isEqualTo(5);
		assertThat(Spread.percentile(List.of(10.0, 20.0), 99)).isEqualTo(19.9, within(1e-9));
	}

	@Test
	void aRatioDecidesByItsMedian() {
		Line reached = compared(List.of(1.0, 1.1, 9.0), Bound.atMost(1.1));
		assertThat(reached.verdict()).isEqualTo(Line.Verdict.REACHED);
		assertThat(compared(List.of(1.0, 1.11, 1.0, 1.2, 1.2), Bound.atMost(1.1)).isShort()).isTrue();
		assertThat(compared(List.of(3.0, 3.0, 3.0), Bound.atLeast(3)).isShort()).isFalse();
		assertThat(compared(List.of(3.0), null).verdict()).isEqualTo(Line.Verdict.INFORMATION);
	}

	@Test
	void whatIsMissingIsNotReached() {
		Line asked = Line.missing("P4", "what", Bound.atLeast(1), "nothing there");
		Line unasked = Line.missing("P4", "what", null, "nothing there");
		assertThat(new Report(Map.of(), List.of(unasked)).isReached()).isTrue();
		assertThat(new Report(Map.of(), List.of(unasked, asked)).isReached()).isFalse();
	}

	@Test
	void peopleAndProgramsReadTheSame() {
		Report report = new Report(Map.of("machine", "2 processors"),
				List.of(compared(List.of(1.0, 1.1, 9.0), Bound.atMost(1.1)).withNote("noted")));
		assertThat(report.toMarkdown())
			.contains("| P1 | what | 5.50 ms | two raw writes | 5 ms | 1.10 (1.05 to 5.05) | ≤ 1.10 | yes |")
			.contains("- P1, what: noted")
			.contains("- machine: 2 processors");
		Document line = Document.parse(report.toJson()).getList("lines", Document.class).get(0);
		assertThat(line.getEmbedded(List.of("ratio", "median"), Double.class)).isEqualTo(1.1);
		assertThat(line.getEmbedded(List.of("mustReach", "kind"), String.class)).isEqualTo("AT_MOST");
		assertThat(line).containsEntry("verdict", "REACHED");
	}

	@Test
	void casesAreChosenByTheirNumbers() {
		assertThat(Arguments.parse("--cases", "P4,p1").cases()).extracting(BenchmarkCase::id)
			.containsExactly("P1", "P4");
		assertThat(Arguments.parse().cases()).extracting(BenchmarkCase::id)
			.containsExactlyInAnyOrder("P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P13",
					"P14", "P15");
		assertThatIllegalArgumentException().isThrownBy(() -> Arguments.parse("--cases", "P1,P77"))
			.withMessageContaining("P77");
		assertThatIllegalArgumentException().isThrownBy(() -> Arguments.parse("--fast"))
			.withMessageContaining("--quick");
	}

	private static Line compared(List<Double> ratios, Bound bound) {
		return Line.compared("P1", "what", Quantity.nanos(5.5e6), Subject.RAW.label(), Quantity.nanos(5e6),
				Spread.of(ratios), bound);
	}

}
