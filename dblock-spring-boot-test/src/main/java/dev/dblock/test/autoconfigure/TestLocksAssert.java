package dev.dblock.test.autoconfigure;

import java.util.stream.Collectors;

import dev.dblock.test.autoconfigure.LockRecorder.Kind;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on the application's use of its locks since the test began:
 *
 * <pre class="code">
 * assertThat(locks).hasAcquired("nightly-invoices", 1).hasNotAcquired("stock");
 * </pre>
 *
 * Names are those of the application, without the configured prefix. An acquisition is
 * counted before its work starts. A thread that re-enters a lock does not acquire it.
 */
public final class TestLocksAssert extends AbstractAssert<TestLocksAssert, TestLocks> {

	TestLocksAssert(TestLocks actual) {
		super(actual, TestLocksAssert.class);
	}

	/**
	 * Verify that the lock was acquired at least once.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert hasAcquired(String name) {
		return check(count(Kind.ACQUIRED, name) > 0, "to have acquired", name);
	}

	/**
	 * Verify that the lock was acquired the given number of times.
	 * @param name the name of the lock
	 * @param times the number of times
	 * @return this
	 */
	public TestLocksAssert hasAcquired(String name, int times) {
		return check(count(Kind.ACQUIRED, name) == times, "to have acquired " + times + " times", name);
	}

	/**
	 * Verify that the lock was never acquired.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert hasNotAcquired(String name) {
		return check(count(Kind.ACQUIRED, name) == 0, "not to have acquired", name);
	}

	/**
	 * Verify that a request of the lock was refused at least once because of another
	 * holder.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert wasRefused(String name) {
		return check(count(Kind.REFUSED, name) > 0, "to have been refused", name);
	}

	/**
	 * Verify that the lock was lost at least once while its owner relied on it. A loss
	 * reaches the work under the lock before another thread records it, so this method
	 * waits up to ten seconds for the record.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert hasLost(String name) {
		isNotNull();
		return check(this.actual.awaitLoss(name), "to have lost", name);
	}

	/**
	 * Verify that the lock is currently held.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert holds(String name) {
		return check(this.actual.holds(name), "to hold", name);
	}

	/**
	 * Verify that the lock is currently not held.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert doesNotHold(String name) {
		return check(!this.actual.holds(name), "not to hold", name);
	}

	private long count(Kind kind, String name) {
		isNotNull();
		return this.actual.count(kind, name);
	}

	private TestLocksAssert check(boolean asExpected, String expectation, String name) {
		if (!asExpected) {
			String happened = this.actual.events().stream().map(Object::toString).collect(Collectors.joining(", "));
			throw failure("Expected the application %s '%s'. What happened to its locks in this test: %s", expectation,
					name, happened.isEmpty() ? "nothing" : happened);
		}
		return this;
	}

}
