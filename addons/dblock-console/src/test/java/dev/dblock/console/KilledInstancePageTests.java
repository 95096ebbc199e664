package dev.dblock.console;

import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.console.testing.Browser;
import dev.dblock.console.testing.InstanceProcess;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import dev.dblock.testing.Signals;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page in a real browser while an instance, in a process of its own, is killed. A run
 * of the statements never ends on the first instance, and ends at once on the second.
 */
@SameOnEachJdk
@ExtendWith(Browser.Condition.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class KilledInstancePageTests {

	private InstanceProcess one;

	private InstanceProcess two;

	private Browser browser;

	@BeforeEach
	void start(MongoServer server) throws Exception {
		String uri = "--spring.mongodb.uri=" + server.uri(server.freshDatabase());
		this.one = start("one", uri, "3600000");
		this.two = start("two", uri, "0");
		this.browser = new Browser();
	}

	private static InstanceProcess start(String name, String uri, String work) throws Exception {
		return InstanceProcess.start(ConsoleApplication.class, name, uri, "--dblock.lease=5s",
				"--statements.work=" + work, "--spring.task.scheduling.pool.size=4",
				"--management.endpoints.web.exposure.include=dblockconsole");
	}

	@AfterEach
	void stop() throws Exception {
		this.browser.close();
		this.two.close();
		this.one.close();
	}

	@Test
	void crashedRunIsRepeatedByTheOtherInstance() throws Exception {
		open(this.two);
		await(() -> assertThat(this.browser.text("[data-key=statements] [data-part=where]")).isEqualTo("one"));
		await(() -> assertThat(this.browser.text("#locks [data-key=statements] [data-part=holder]")).isEqualTo("one"));
		await(() -> assertThat(runs("[data-outcome=RUNS]")).singleElement()
			.satisfies((run) -> assertThat(run).contains(": running on one")));
		kill(this.one);
		await(() -> assertThat(runs(".failed")).singleElement()
			.satisfies((run) -> assertThat(run).contains(": crashed on one")));
		await(() -> assertThat(runs("[data-outcome=SUCCEEDED]"))
			.anySatisfy((run) -> assertThat(run).contains(": succeeded on two, attempt 2 after ")));
		await(() -> assertThat(this.browser.text("#events")).contains("statements crashed on one"));
		assertThat(this.browser.errors()).isEmpty();
	}

	@Test
	void pageOfAnInstanceThatDoesNotAnswerShowsSinceWhenItIsOld() throws Exception {
		open(this.one);
		await(() -> assertThat(this.browser.text("#instances")).contains("one"));
		Signals.send(this.one.process().pid(), "STOP");
		assertShowsOldData();
		assertThat(this.browser.errors()).isEmpty();
		Signals.send(this.one.process().pid(), "CONT");
		await(() -> assertThat(this.browser.find("#banner").isDisplayed()).isFalse());
		// Its own requests to the server may have been too slow
		this.browser.errors();
		kill(this.one);
		assertShowsOldData();
		assertThat(this.browser.errorsWithout(this.one)).isEmpty();
	}

	private void assertShowsOldData() {
		await(() -> assertThat(this.browser.text("#banner"))
			.startsWith("The instance does not answer. What follows is from "));
		String since = this.browser.text("#at").split(" [A-Z]")[0];
		assertThat(this.browser.text("#banner")).endsWith(" is from " + since + ".");
		assertThat(this.browser.text(".stale #jobs")).contains("statements");
		assertThat(this.browser.find("#banner").getAriaRole()).isEqualTo("alert");
	}

	private static void kill(InstanceProcess instance) throws Exception {
		instance.process().destroyForcibly();
		assertThat(instance.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
	}

	private void open(InstanceProcess instance) {
		this.browser.open(instance.url() + "actuator/dblockconsole", "#jobs");
		this.browser.errors();
	}

	/**
	 * The runs of the statements in words, the oldest first.
	 */
	private List<String> runs(String selector) {
		return this.browser.titles("[data-key=statements] .strip li" + selector);
	}

	private void await(ThrowingRunnable assertion) {
		this.browser.await(assertion);
	}

}
