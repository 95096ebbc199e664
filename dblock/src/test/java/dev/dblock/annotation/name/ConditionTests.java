package dev.dblock.annotation.name;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.LockingConfiguration;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.annotation.invocation.RecordingEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Calls that are locked only under a condition.
 */
class ConditionTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
	}

	private Orders orders() {
		this.context.setEnvironment(new MockEnvironment().withProperty("orders.limit", "100"));
		this.context.register(LockingConfiguration.class, Orders.class);
		this.context.refresh();
		return this.context.getBean(Orders.class);
	}

	private List<String> events() {
		return this.context.getBean(RecordingEngine.class).events();
	}

	@Test
	void callIsLockedWhereTheConditionIsMet() {
		assertThat(orders().settle(101L)).isEqualTo("settled");
		assertThat(events()).containsExactly("lock order-101", "unlock order-101");
	}

	@Test
	void callRunsUnlockedWhereItIsNot() {
		assertThat(orders().settle(100L)).isEqualTo("settled");
		assertThat(events()).isEmpty();
	}

	@Test
	void nameIsOnlyNeededForALock() {
		assertThat(orders().named(null)).isEqualTo("settled");
		assertThat(events()).isEmpty();
	}

	@Test
	void futureIsUnchangedWhereTheConditionIsNotMet() {
		CompletableFuture<String> work = new CompletableFuture<>();
		assertThat(orders().future(work)).isSameAs(work);
		assertThat(events()).isEmpty();
	}

	@Test
	void callWhoseConditionIsNeitherTrueNorFalseIsRefusedAndNotRun() {
		Orders orders = orders();
		assertThatIllegalArgumentException().isThrownBy(() -> orders.flagged(null))
			.withMessageContaining("Orders#flagged(Boolean), so the method was not called: the condition '#flag' is"
					+ " neither true nor false, but null");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.lengthy(null))
			.withMessageContaining("the method was not called: the condition '#id.length() > 3' cannot be evaluated");
	}

	@Test
	void callWhoseConditionThrowsIsRefusedAndNotRun() {
		Orders orders = orders();
		assertThatIllegalArgumentException().isThrownBy(() -> orders.parsed("x"))
			.withMessageContaining("It is not clear whether to lock ")
			.withMessageContaining("Orders#parsed(String), so the method was not called: the condition"
					+ " 'T(Integer).parseInt(#id) > 3' cannot be evaluated: it failed with"
					+ " java.lang.NumberFormatException: ")
			.withCauseExactlyInstanceOf(NumberFormatException.class);
		assertThat(events()).isEmpty();
	}

	@Test
	void nullIsNotGreaterThanAnythingSoThatTheCallRunsUnlocked() {
		assertThat(orders().settle(null)).isEqualTo("settled");
		assertThat(events()).isEmpty();
	}

	@Test
	void conditionThatCannotBeEvaluatedStopsTheStart() {
		this.context.register(LockingConfiguration.class);
		this.context.registerBean("orders", Wrong.class);
		List<String> findings = catchThrowableOfType(InvalidLockDeclarationException.class, this.context::refresh)
			.findings();
		String type = "bean 'orders', " + Wrong.class.getName();
		assertThat(findings).hasSize(3)
			.anySatisfy((finding) -> assertThat(finding)
				.startsWith(type + "#unparsable(): the condition '1 >' has an expression that cannot be parsed: "))
			.anySatisfy((finding) -> assertThat(finding).isEqualTo(
					type + "#unknown(String): the condition '#order' cannot be evaluated: there is no #order, only #a0,"
							+ " #id, #p0"))
			.anySatisfy((finding) -> assertThat(finding)
				.startsWith(type + "#blank(): the condition ' ' is blank after its placeholders are resolved"));
	}

	public static class Orders {

		@DistributedLock(name = "order-#{#total}", condition = "#total > ${orders.limit}")
		public String settle(Long total) {
			return "settled";
		}

		@DistributedLock(name = "order-#{#id}", condition = "#{#id != null}")
		public String named(String id) {
			return "settled";
		}

		@DistributedLock(condition = "#root.methodName == 'other' + #root.args.length")
		public CompletableFuture<String> future(CompletableFuture<String> work) {
			return work;
		}

		@DistributedLock(condition = "#id.length() > 3")
		public String lengthy(String id) {
			return "settled";
		}

		@DistributedLock(condition = "T(Integer).parseInt(#id) > 3")
		public String parsed(String id) {
			return "settled";
		}

		@DistributedLock(condition = "#flag")
		public String flagged(Boolean flag) {
			return "settled";
		}

	}

	public static class Wrong {

		@DistributedLock(condition = "1 >")
		public void unparsable() {
		}

		@DistributedLock(condition = "#order")
		public void unknown(String id) {
		}

		@DistributedLock(condition = " ")
		public void blank() {
		}

	}

}
