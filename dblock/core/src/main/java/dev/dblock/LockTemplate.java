package dev.dblock;

import java.util.Map;

/**
 * The bean for programmatic locking:
 *
 * <pre class="code">
 * lockTemplate.execute("stock", () -&gt; reserve(item));
 *
 * try (LockHandle lock = lockTemplate.acquire("stock", LockOptions.lease(ofSeconds(20)).waitUpTo(ofSeconds(5)))) {
 *     repository.save(order, lock.token());
 *     lock.ensureHeld();
 * }
 * </pre>
 *
 * Thread-safe. Not to be implemented by applications, except in tests.
 */
public interface LockTemplate extends LockOperations {

	@Override
	LockTemplate forAll(Map<String, LockOptions> locks);

}
