package dev.dblock.test.autoconfigure;

import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Has no test begin with locks that an earlier one left held elsewhere.
 */
final class ResetLocksTestExecutionListener extends AbstractTestExecutionListener {

	@Override
	public void afterTestMethod(TestContext testContext) {
		if (testContext.hasApplicationContext()) {
			reset(testContext.getApplicationContext());
		}
	}

	/**
	 * Creates nothing that the test did not ask for, since that may be impossible; what
	 * was recorded is forgotten all the same, for a later test in the same context.
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
