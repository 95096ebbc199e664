package dev.dblock.sample;

import java.time.Duration;
import java.util.List;

import dev.dblock.LockInfo;
import dev.dblock.LockOperations;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * {@code POST /stock/bolts/count} takes the lock by hand: now or not at all.
 * {@code GET /locks} shows all locks.
 */
@RestController
class StockController {

	private static final Logger logger = LoggerFactory.getLogger(StockController.class);

	private final LockOperations locks;

	private final Duration work;

	StockController(LockOperations locks, @Value("${sample.stock.work}") Duration work) {
		this.locks = locks;
		this.work = work;
	}

	@PostMapping("/stock/{item}/count")
	ResponseEntity<String> count(@PathVariable String item) throws InterruptedException {
		LockOptions nowOrNever = LockOptions.defaults().waitUpTo(Duration.ZERO).why("stock-taking");
		return this.locks.execute("stock-" + item, nowOrNever, () -> countLocked(item), StockController::refuse);
	}

	private ResponseEntity<String> countLocked(String item) throws InterruptedException {
		logger.info("WORKS     on the count of {}", item);
		Thread.sleep(this.work.toMillis());
		return ResponseEntity.ok("All " + item + " are counted\n");
	}

	private static ResponseEntity<String> refuse(LockRefusal refusal) {
		return ResponseEntity.status(HttpStatus.CONFLICT).body(refusal.describe() + "\n");
	}

	@GetMapping("/locks")
	List<LockInfo> locks() {
		return this.locks.list();
	}

}
