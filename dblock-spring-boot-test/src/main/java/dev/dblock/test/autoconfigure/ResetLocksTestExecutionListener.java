package dev.dblock.test.autoconfigure;

import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Resets {@link TestLocks} after each test method, so that no test begins with locks that
 * an earlier one left held elsewhere.
 */
final class ResetLocksTestExecutionListener extends AbstractTestExecutionListener {

	@Override
	public void afterTestMethod(TestContext testContext) {
		if (testContext.hasApplicationContext()) {
			reset(testContext.getApplicationContext());
		}
	}

	/**
	 * Reset only existing beans, since it may be impossible to create those that the test
	 * did not use. Recorded events are always discarded, for a later test in the same
	 * context.
	 */
	private static void reset(ApplicationContext context) {
		if (context.getAutowireCapableBeanFactory() instanceof SingletonBeanRegistry beans) {
			if (beans.getSingleton(DblockTestAutoConfiguration.LOCKS) instanceof TestLocks locks) {
				locks.reset();
			}
			else if (beans.getSingleton(DblockTestAutoConfiguration.RECORDER) instanceof LockRecorder recorder) {
				recorder.clear();
			}
		}
	}

}
