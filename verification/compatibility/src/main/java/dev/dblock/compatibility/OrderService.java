package dev.dblock.compatibility;

import java.util.Optional;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.WhenUnavailable;
import org.bson.Document;

import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Methods with locks, by annotation.
 */
@Service
public class OrderService {

	private final MongoTemplate mongo;

	OrderService(MongoTemplate mongo) {
		this.mongo = mongo;
	}

	/**
	 * Refused while somebody else settles the same order.
	 */
	@DistributedLock(name = "${spring.application.name}-#{#order.id}-#{#root.methodName}", leaseSeconds = 30)
	public Optional<String> settle(Order order) {
		return LockContext.current().map(LockHandle::name);
	}

	/**
	 * Left out while somebody else settles the same order.
	 */
	@DistributedLock(name = "compatibility-#{#order.id}-settle", whenUnavailable = WhenUnavailable.SKIP)
	public Optional<String> settleUnlessBusy(Order order) {
		return settle(order);
	}

	/**
	 * Commits only while it holds the lock.
	 */
	@DistributedLock("payment")
	@Transactional
	public void pay(Order order, Runnable beforeCommit) {
		this.mongo.insert(new Document("order", order.id()), "payments");
		beforeCommit.run();
	}

}
