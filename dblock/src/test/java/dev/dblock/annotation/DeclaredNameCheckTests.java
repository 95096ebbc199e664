package dev.dblock.annotation;

import java.nio.file.Path;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.CheckedBeans.StrictPlaceholders;
import dev.dblock.annotation.invocation.InMemoryCompiler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static dev.dblock.annotation.CheckedBeans.findings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check of the names of locks.
 */
class DeclaredNameCheckTests {

	private static final String HERE = DeclaredNameCheckTests.class.getName() + "$";

	@Test
	void brokenExpression() {
		assertThat(findings(BrokenExpression.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "BrokenExpression#run(String): the name 'a-#{#x.}' has an expression"
					+ " that cannot be parsed: ");
	}

	@Test
	void brokenPlaceholder() {
		assertThat(findings(BrokenPlaceholder.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "BrokenPlaceholder#run(): the name 'a-${nowhere}' has a placeholder"
					+ " that cannot be resolved: 'a-${nowhere}'");
		assertThat(findings(StrictPlaceholders.class, BrokenPlaceholder.class)).singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "BrokenPlaceholder#run(): the name 'a-${nowhere}' has a placeholder"
					+ " that cannot be resolved: Could not resolve placeholder 'nowhere'");
	}

	@Test
	void unknownParameter() {
		assertThat(findings(UnknownParameter.class)).containsExactly("bean 'bean', " + HERE
				+ "UnknownParameter#run(String): the name '#{#order}' cannot be evaluated: there is no #order, only #a0,"
				+ " #month, #p0");
	}

	@Test
	void parametersHaveTheNamesOfTheInterfaceAndOfTheImplementation() {
		assertThat(findings(SettlingById.class)).containsExactly("bean 'bean', " + HERE
				+ "SettlingById#undo(String): the name 'undo-#{#number}' cannot be evaluated: there is no #number, only"
				+ " #a0, #id, #order, #p0");
	}

	@Test
	void classCompiledWithoutParameterNames(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Nameless", """
				package a;
				public class Nameless {
					@dev.dblock.DistributedLock("order-#{#order}")
					public void settle(String order) { }
				}
				""").load("a.Nameless");
		assertThat(findings(type)).containsExactly(
				"bean 'bean', a.Nameless#settle(String): the name 'order-#{#order}' cannot be evaluated: there is no"
						+ " #order, because the class was compiled without the names of its parameters; compile it"
						+ " with -parameters, or write #a0 for the first");
	}

	@Test
	void badConstantNames() {
		assertThat(findings(Names.class)).containsExactlyInAnyOrder(
				"bean 'bean', " + HERE
						+ "Names#blank(): the name '  ' is blank after its placeholders are resolved; set a name, or"
						+ " omit it",
				"bean 'bean', " + HERE + "Names#tooLong(): A name of 101 characters cannot be a lock's");
	}

	static class BrokenExpression {

		@DistributedLock("a-#{#x.}")
		public void run(String x) {
		}

	}

	static class BrokenPlaceholder {

		@DistributedLock("a-${nowhere}")
		public void run() {
		}

	}

	static class UnknownParameter {

		@DistributedLock("#{#order}")
		public void run(String month) {
		}

	}

	interface Settling {

		@DistributedLock("order-#{#order}")
		void settle(String order);

		@DistributedLock("undo-#{#number}")
		void undo(String order);

	}

	static class SettlingById implements Settling {

		@Override
		public void settle(String id) {
		}

		@Override
		public void undo(String id) {
		}

	}

	static class Names {

		@DistributedLock("  ")
		public void blank() {
		}

		@DistributedLock("12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901")
		public void tooLong() {
		}

	}

}
