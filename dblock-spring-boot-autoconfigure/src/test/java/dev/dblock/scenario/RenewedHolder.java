package dev.dblock.scenario;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;

/**
 * A holder in a JVM of its own, which renews its lock, and reports when it has lost it.
 */
final class RenewedHolder implements AutoCloseable {

	private static final String LOCK = "stock";

	static final Duration LEASE = Duration.ofSeconds(9);

	/**
	 * A new JVM on a busy machine may need more than one request for its first lock.
	 */
	private static final LockOptions PATIENTLY = LockOptions.lease(LEASE).waitUpTo(Duration.ofMinutes(2));

	private final AnotherProcess process;

	private RenewedHolder(AnotherProcess process) {
		this.process = process;
	}

	static RenewedHolder start(Instances instances, String acquirer) throws IOException {
		return new RenewedHolder(AnotherProcess.start(RenewedHolder.class, instances.uri(),
				instances.documents().getNamespace().getDatabaseName(), acquirer));
	}

	/**
	 * Wait until it has renewed its lock.
	 * @return its fencing token
	 */
	long awaitRenewed(Instances instances) {
		long token = Long.parseLong(this.process.await("token"));
		Instant granted = instances.instant(LOCK, "acquiredAt");
		Instances.eventually().until(() -> instances.instant(LOCK, "updatedAt").isAfter(granted));
		return token;
	}

	AnotherProcess process() {
		return this.process;
	}

	/**
	 * Let an instance wait for the lock, and wait until it is notified of releases.
	 */
	static Work<LockHandle> awaitBy(Instance other) {
		Work<LockHandle> waiter = Work
			.start(() -> other.locks().acquire(LOCK, LockOptions.defaults().waitUpTo(Duration.ofMinutes(2))));
		waiter.awaitWaiting();
		other.awaitSignals();
		return waiter;
	}

	@Override
	public void close() throws IOException {
		this.process.close();
	}

	public static void main(String[] arguments) throws InterruptedException {
		try (Instance instance = new Instance(arguments[2], arguments[0], arguments[1], Duration.ofMillis(500));
				LockHandle handle = instance.locks().acquire(LOCK, PATIENTLY)) {
			CountDownLatch lost = new CountDownLatch(1);
			handle.onLost((reason) -> lost.countDown());
			System.out.println("token " + handle.token());
			lost.await();
			System.out.println("lost held: " + handle.isHeld() + ", released: " + handle.release());
			new CountDownLatch(1).await();
		}
	}

}
