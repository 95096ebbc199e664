package dev.dblock.local;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import dev.dblock.LockInfo;
import dev.dblock.core.JobRepositoryContract;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.ReleaseFeed;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.PlatformTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * The contract of all stores for the store in memory, and the particular behaviour of
 * that.
 */
class LocalLockRepositoryTests extends JobRepositoryContract {

	private final LocalLockStore store = new LocalLockStore();

	private final LocalLockRepository locks = new LocalLockRepository(this.store);

	@Override
	protected LockRepository locks() {
		return this.locks;
	}

	@Override
	protected Object stored(String name) {
		return this.locks.find(name).map(LocalLockRepositoryTests::withoutRemaining).orElse(null);
	}

	private static LockInfo withoutRemaining(LockInfo lock) {
		return new LockInfo(lock.name(), lock.held(), lock.holder(), lock.acquirer(), lock.thread(), lock.why(),
				lock.token(), lock.acquiredAt(), lock.updatedAt(), lock.expiresAt(), lock.releasedAt(), Duration.ZERO);
	}

	@Override
	protected void endIn(String name, Duration left) {
		this.store.endIn(name, left);
	}

	@Override
	protected void forget(String name) {
		this.locks.forceReleaseNow(name);
		Awaitility.await().atMost(TIMEOUT).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(() -> {
			this.store.forgetUnused();
			return this.locks.find(name).isEmpty();
		});
	}

	@Override
	protected Instant storeTime() {
		return Instant.ofEpochMilli(this.store.now());
	}

	@Override
	protected Duration marginOf(Duration lease) {
		return Duration.ofMillis(1);
	}

	@Test
	void aHolderIsNeverLeftWithLessThanItsLeaseWhereverTheClockIsInItsMillisecond() {
		AtomicLong nanos = new AtomicLong(5_999_999);
		LocalLockRepository locks = new LocalLockRepository(new LocalLockStore(() -> nanos.get() / 1_000_000));
		locks.acquire(request(key("stock"), Duration.ofMillis(10)));
		nanos.addAndGet(Duration.ofMillis(10).toNanos() - 1);
		assertThat(locks.acquire(request(key("stock"), LEASE))).isNotInstanceOf(Granted.class);
		nanos.addAndGet(1_000_001);
		assertThat(locks.acquire(request(key("stock"), LEASE))).isInstanceOf(Granted.class);
	}

	@Test
	void unusedNamesAreForgottenAndThoseInUseAreNot() {
		AtomicLong millis = new AtomicLong(1_000_000);
		LocalLockRepository locks = new LocalLockRepository(new LocalLockStore(millis::get));
		LeaseKey held = key("held");
		locks.acquire(request(held, LEASE));
		LeaseKey resting = key("resting");
		locks.acquire(request(resting, LEASE));
		locks.release(resting, LEASE, FenceMark.KEEP, null, TIMEOUT);
		long last = 0;
		for (int i = 0; i < 10_000; i++) {
			LeaseKey key = key("job-" + i);
			last = ((Granted) locks.acquire(request(key, LEASE))).lastToken();
			locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
			millis.incrementAndGet();
		}
		assertThat(locks.findAll(ListRequest.all("")).locks()).hasSizeLessThan(1100)
			.extracting(LockInfo::name)
			.contains("held", "resting");
		assertThat(locks.renew(List.of(held), TIMEOUT)).isEmpty();
		assertThat(((Granted) locks.acquire(request(key("job-0"), LEASE))).token()).isGreaterThan(last);
	}

	@Test
	void namesWhoseLeasesEndedWithoutAReleaseAreForgotten() {
		AtomicLong millis = new AtomicLong(1_000_000);
		LocalLockRepository locks = new LocalLockRepository(new LocalLockStore(millis::get));
		LeaseKey ended = key("job-0");
		long last = ((Granted) locks.acquire(request(ended, LEASE))).lastToken();
		millis.addAndGet(LEASE.toMillis() + 2);
		for (int i = 1; i < 10_000; i++) {
			locks.acquire(request(key("job-" + i), LEASE));
			millis.addAndGet(LEASE.toMillis() + 2);
		}
		assertThat(locks.findAll(ListRequest.all("")).locks()).hasSizeLessThan(1100);
		assertThat(locks.renew(List.of(ended), TIMEOUT)).containsOnlyKeys(ended);
		assertThat(locks.release(ended, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isFalse();
		assertThat(((Granted) locks.acquire(request(key("job-0"), LEASE))).token()).isGreaterThan(last);
	}

	@Test
	void namesWhoseTokensAreAheadOfTheClockAreNotForgotten() {
		LocalLockStore store = new LocalLockStore(() -> 1_000_000);
		LocalLockRepository locks = new LocalLockRepository(store);
		LeaseKey key = key("stock");
		locks.acquire(request(key, LEASE));
		locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		store.forgetUnused();
		assertThat(locks.find("stock")).isPresent();
	}

	@Test
	void everyEngineOverTheStoreIsNotifiedOfReleases() {
		Heard mine = new Heard();
		Heard others = new Heard();
		LocalLockRepository another = new LocalLockRepository(this.store);
		this.locks.releases().open(mine);
		this.locks.releases().open(new Heard());
		another.releases().open(others);
		release(acquired("released"), Duration.ZERO);
		acquired("forced");
		another.forceRelease("forced");
		acquired("forced now");
		this.locks.forceReleaseNow("forced now");
		acquired("expired");
		this.store.expire("expired");
		assertThat(mine.news).containsExactly("listening", "released", "forced", "forced now", "expired");
		assertThat(others.news).isEqualTo(mine.news);
		this.locks.releases().close(Duration.ZERO);
		this.locks.releases().close(Duration.ZERO);
		another.release(acquired("later"), Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		assertThat(mine.news).doesNotContain("later");
		assertThat(others.news).contains("later");
		this.locks.releases().open(mine);
		assertThat(mine.news).endsWith("listening");
	}

	@Test
	void aReleaseWithoutEffectIsNotNotified() {
		Heard heard = new Heard();
		this.locks.releases().open(heard);
		release(key("stock"), Duration.ZERO);
		assertThat(this.store.expire("stock")).isFalse();
		assertThat(heard.news).containsExactly("listening");
	}

	@Test
	void aNameThatWasExpiredIsFreeAndItsHolderIsNotNotified() {
		LeaseKey key = acquired("stock");
		assertThat(this.store.expire("stock")).isTrue();
		assertThat(look("stock").holder()).isEqualTo(key.holder());
		assertThat(granted("stock")).isNotNull();
		assertThat(this.locks.renew(List.of(key), TIMEOUT)).containsOnlyKeys(key);
	}

	@Test
	void aTakeOverIsNotNotifiedAsARelease() {
		Heard heard = new Heard();
		LeaseKey first = acquired("stock");
		this.locks.releases().open(heard);
		LeaseKey second = key("stock");
		assertThat(this.store.takeOver(request(second, LEASE))).isInstanceOf(Granted.class);
		assertThat(heard.news).containsExactly("listening");
		assertThat(look("stock").holder()).isEqualTo(second.holder());
		assertThat(this.locks.renew(List.of(first, second), TIMEOUT)).containsOnlyKeys(first);
		assertThat(this.store.takeOver(request(key("free"), LEASE))).isInstanceOf(Granted.class);
	}

	@Test
	void thereIsNoFence() {
		assertThat(Optional.ofNullable(this.locks.fenceFor(mock(PlatformTransactionManager.class)))).isEmpty();
	}

	private static final class Heard implements ReleaseFeed.Listener {

		private final List<String> news = new ArrayList<>();

		@Override
		public void listening() {
			this.news.add("listening");
		}

		@Override
		public void released(String name) {
			this.news.add(name);
		}

		@Override
		public void interrupted(String reason) {
			this.news.add("interrupted");
		}

		@Override
		public void unsupported(String reason) {
			this.news.add("unsupported");
		}

	}

}
