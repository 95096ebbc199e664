package dev.dblock.test.autoconfigure;

import java.util.stream.Collectors;

import dev.dblock.test.autoconfigure.LockRecorder.Kind;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on what the application did with its locks since the test began:
 *
 * <pre class="code">
 * assertThat(locks).hasAcquired("nightly-invoices", 1).hasNotAcquired("stock");
 * </pre>
 *
 * Names are those of the application, without the configured prefix. An acquisition is
 * counted before its work starts; a thread that re-enters a lock acquires nothing.
 */
public final class TestLocksAssert extends AbstractAssert<TestLocksAssert, TestLocks> {

	TestLocksAssert(TestLocks actual) {
		super(actual, TestLocksAssert.class);
	}

	/**
	 * The lock was acquired at least once.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert hasAcquired(String name) {
		return check(count(Kind.ACQUIRED, name) > 0, "to have acquired", name);
	}

	/**
	 * The lock was acquired so many times.
	 * @param name the name of the lock
	 * @param times how many times
	 * @return this
	 */
	public TestLocksAssert hasAcquired(String name, int times) {
		return check(count(Kind.ACQUIRED, name) == times, "to have acquired " + times + " times", name);
	}

	/**
	 * The lock was never acquired.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert hasNotAcquired(String name) {
		return check(count(Kind.ACQUIRED, name) == 0, "not to have acquired", name);
	}

	/**
	 * The lock was asked for, and somebody else had it, at least once.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert wasRefused(String name) {
		return check(count(Kind.REFUSED, name) > 0, "to have been refused", name);
	}

	/**
	 * The lock was lost while its owner counted on it, at least once. A loss reaches the
	 * work under the lock before it is recorded in another thread, so this waits for it,
	 * for at most ten seconds.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert hasLost(String name) {
		isNotNull();
		return check(this.actual.awaitLoss(name), "to have lost", name);
	}

	/**
	 * The lock is held at this moment.
	 * @param name the name of the lock
	 * @return this
	 */
	public TestLocksAssert holds(String name) {
		return check(this.actual.holds(name), "to hold", name);
	}

	/**
	 * The lock is not held at this moment.
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
