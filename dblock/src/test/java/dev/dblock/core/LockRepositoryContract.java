package dev.dblock.core;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import dev.dblock.LockInfo;
import dev.dblock.LockPage;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.LockRepository.StoreTime;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The contract of all stores. Time passes by ending leases sooner, except where a test is
 * about the clock itself.
 */
public abstract class LockRepositoryContract {

	protected static final Duration LEASE = Duration.ofMinutes(10);

	protected static final Duration TIMEOUT = Duration.ofSeconds(60);

	/**
	 * The store, with nothing in it before each test.
	 */
	protected abstract LockRepository locks();

	/**
	 * The same locks with as little clock allowance as there can be.
	 */
	protected LockRepository exactLocks() {
		return locks();
	}

	/**
	 * Everything that is stored under a name, to be compared; {@code null} if nothing is.
	 */
	protected abstract Object stored(String name);

	/**
	 * Let any lease or minimum hold of a name end after the given time.
	 */
	protected abstract void endIn(String name, Duration left);

	protected void expire(String name) {
		endIn(name, Duration.ofSeconds(-60));
	}

	/**
	 * Let the store forget a name, as after a clean-up.
	 */
	protected abstract void forget(String name);

	protected abstract Instant storeTime();

	/**
	 * For how much longer than a lease its name stays taken.
	 */
	protected abstract Duration marginOf(Duration lease);

	/**
	 * The possible error of the estimate of the store's clock.
	 */
	protected Duration slack() {
		return Duration.ZERO;
	}

	/**
	 * Whether the end of a lease is counted from exactly the time that is stored beside
	 * it, rather than from one between the request and the answer.
	 */
	protected boolean countsFromStoredTime() {
		return true;
	}

	public static LeaseKey key(String name) {
		return new LeaseKey(name, UUID.randomUUID().toString());
	}

	public static AcquireRequest request(LeaseKey key, Duration lease) {
		return new AcquireRequest(key, lease, "host-1", "main", "a test", TIMEOUT);
	}

	protected final AcquireAnswer acquire(LeaseKey key) {
		return locks().acquire(request(key, LEASE));
	}

	protected final LeaseKey acquired(String name) {
		LeaseKey key = key(name);
		assertThat(acquire(key)).isInstanceOf(Granted.class);
		return key;
	}

	protected final Granted granted(String name) {
		return (Granted) acquire(key(name));
	}

	protected final boolean release(LeaseKey key, Duration minHoldLeft) {
		return locks().release(key, minHoldLeft, FenceMark.KEEP, null, TIMEOUT);
	}

	protected final LockInfo look(String name) {
		return locks().find(name).orElseThrow();
	}

	private void assertLasts(Instant expiresAt, Instant since, Instant before, Duration promised) {
		if (countsFromStoredTime()) {
			assertThat(expiresAt).isEqualTo(since.plus(promised));
		}
		else {
			assertThat(expiresAt).isBetween(before.plus(promised), storeTime().plus(promised).plus(slack()));
		}
	}

	@Test
	void returnsTheTimeOfTheDecidingClock() {
		StoreTime time = locks().time(TIMEOUT).orElseThrow();
		assertThat(time.notAfter()).isAfterOrEqualTo(time.notBefore());
		assertThat(granted("stock").acquiredAt()).isBetween(time.notBefore(), time.notAfter().plusSeconds(3600));
		assertThat(time.notBefore()).isAfter(granted("other").acquiredAt().minusSeconds(3600));
		assertThat(locks().findAll(ListRequest.all("")).locks()).as("nothing is left of the question").hasSize(2);
	}

	@Test
	void grantsAFreeNameAndStoresItsHolderTimesAndReason() {
		LeaseKey key = key("stock");
		Instant before = storeTime();
		Granted granted = (Granted) locks()
			.acquire(new AcquireRequest(key, LEASE, "host-7", "worker-3", "invoices", TIMEOUT));
		Instant after = storeTime();
		assertThat(granted.lastToken()).isEqualTo(granted.token() + 1023);
		assertThat(granted.token()).isBetween(before.toEpochMilli() * 1024, after.toEpochMilli() * 1024);
		assertThat(granted.acquiredAt()).isBetween(before, after);
		LockInfo lock = look("stock");
		assertThat(lock.name()).isEqualTo("stock");
		assertThat(lock.held()).isTrue();
		assertThat(lock.holder()).isEqualTo(key.holder());
		assertThat(lock.acquirer()).isEqualTo("host-7");
		assertThat(lock.thread()).isEqualTo("worker-3");
		assertThat(lock.why()).isEqualTo("invoices");
		assertThat(lock.token()).isEqualTo(granted.lastToken());
		assertThat(lock.acquiredAt()).isEqualTo(granted.acquiredAt());
		// A server reads its clock for each date that an operator sets.
		assertThat(lock.updatedAt()).isBetween(granted.acquiredAt(), after);
		assertThat(lock.releasedAt()).isNull();
		assertLasts(lock.expiresAt(), lock.acquiredAt(), before, LEASE.plus(marginOf(LEASE)));
	}

	@Test
	void refusalNamesTheHolderItsTimesAndReason() {
		LeaseKey holder = acquired("stock");
		LockInfo lock = ((Refused) acquire(key("stock"))).lock();
		assertThat(lock.held()).isTrue();
		assertThat(lock.holder()).isEqualTo(holder.holder());
		assertThat(lock.acquirer()).isEqualTo("host-1");
		assertThat(lock.thread()).isEqualTo("main");
		assertThat(lock.why()).isEqualTo("a test");
		assertThat(lock.releasedAt()).isNull();
		assertThat(lock.remaining()).isBetween(Duration.ofMillis(1),
				LEASE.plus(marginOf(LEASE)).plus(slack().multipliedBy(2)));
		assertThat(look("stock")).usingRecursiveComparison().ignoringFields("remaining").isEqualTo(lock);
		assertThat(locks().find("stock", TIMEOUT)).get()
			.usingRecursiveComparison()
			.ignoringFields("remaining")
			.isEqualTo(lock);
	}

	@Test
	void refusalLeavesWhatIsStoredUntouched() {
		acquired("stock");
		Object before = stored("stock");
		acquire(key("stock"));
		assertThat(stored("stock")).isEqualTo(before);
	}

	@Test
	void acquireRepeatedWithTheSameIdReturnsTheSameGrantAndChangesNothing() {
		LeaseKey key = key("stock");
		AcquireAnswer first = acquire(key);
		Object before = stored("stock");
		assertThat(acquire(key)).isEqualTo(first);
		assertThat(stored("stock")).isEqualTo(before);
	}

	@Test
	void acquireRepeatedAfterItsLeaseEndedIsANewGrant() {
		LeaseKey key = key("stock");
		Granted first = (Granted) acquire(key);
		expire("stock");
		assertThat(((Granted) acquire(key)).token()).isGreaterThan(first.lastToken());
	}

	static Stream<String> names() {
		return Stream.of("$$ROOT", "$$NOW", "$where", "$_id", "a.b", "a.$.b", "it's \"quoted\"", "\\E.*", "{$ne: 1}",
				"\uD83D\uDD12\uD83D\uDE00", "__proto__", "constructor", " ", "null", "/re/", "line\nbreak",
				"n".repeat(1000), "\u00e9".repeat(500));
	}

	@ParameterizedTest
	@MethodSource("names")
	void namesAreLiteralText(String name) {
		assertThat(name.getBytes(StandardCharsets.UTF_8).length).isLessThanOrEqualTo(1000);
		LeaseKey key = acquired(name);
		LeaseKey another = acquired("another");
		assertThat(acquire(key(name))).isInstanceOf(Refused.class);
		assertThat(locks().findAll(ListRequest.all("")).locks()).hasSize(2);
		assertThat(look(name).name()).isEqualTo(name);
		assertThat(look(name).holder()).isEqualTo(key.holder());
		assertThat(locks().findAll(ListRequest.all(name)).locks()).extracting(LockInfo::name).containsExactly(name);
		assertThat(locks().renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(locks().extend(key, LEASE, TIMEOUT)).isTrue();
		assertThat(release(key, Duration.ZERO)).isTrue();
		assertThat(look("another").holder()).isEqualTo(another.holder());
	}

	@ParameterizedTest
	@ValueSource(strings = { "$$ROOT", "$$NOW", "$holder", "{$literal: 1}", "", "\uD83D\uDD12" })
	void acquirerThreadAndReasonAreLiteralText(String text) {
		LeaseKey key = new LeaseKey("stock", "id-" + text);
		locks().acquire(new AcquireRequest(key, LEASE, text, text, text, TIMEOUT));
		LockInfo lock = look("stock");
		assertThat(lock.acquirer()).isEqualTo(text);
		assertThat(lock.thread()).isEqualTo(text);
		assertThat(lock.why()).isEqualTo(text);
		assertThat(lock.holder()).isEqualTo("id-" + text);
		assertThat(release(key, Duration.ZERO)).isTrue();
	}

	@Test
	void takesOverAtTheExpiryByTheServersClockAndNotBefore() {
		LockRepository exact = exactLocks();
		exact.acquire(request(key("stock"), Duration.ofSeconds(1)));
		Instant expiresAt = look("stock").expiresAt();
		LeaseKey second = key("stock");
		Awaitility.await().pollInterval(Duration.ofMillis(1)).atMost(TIMEOUT).until(() -> {
			Instant asked = storeTime();
			AcquireAnswer answer = exact.acquire(request(second, LEASE));
			if (answer instanceof Refused held) {
				assertThat(held.lock().remaining()).isPositive();
				assertThat(asked).isBefore(expiresAt.plus(slack()));
			}
			return answer instanceof Granted;
		});
		assertThat(look("stock").acquiredAt()).isAfterOrEqualTo(expiresAt);
	}

	@Test
	void tokensRiseOverReleaseExpiryTakeOverAndDeletedDocuments() {
		long last = 0;
		for (int i = 0; i < 120; i++) {
			LeaseKey key = key("stock");
			Granted granted = (Granted) acquire(key);
			assertThat(granted.token()).isGreaterThan(last);
			assertThat(granted.lastToken()).isEqualTo(granted.token() + 1023);
			last = granted.lastToken();
			switch (i % 4) {
				case 0 -> release(key, Duration.ZERO);
				case 1 -> expire("stock");
				case 2 -> locks().forceReleaseNow("stock");
				default -> {
					forget("stock");
					awaitClockBeyond(last / 1024);
				}
			}
		}
	}

	private void awaitClockBeyond(long millis) {
		Awaitility.await()
			.atMost(TIMEOUT)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(1))
			.until(() -> storeTime().toEpochMilli() > millis);
	}

	@Test
	void reservesAsManyTokensAsAreAskedFor() {
		Granted first = granted("stock");
		expire("stock");
		LeaseKey key = key("stock");
		AcquireRequest request = new AcquireRequest(key, LEASE, "host-1", "main", "a test", TIMEOUT, 50_000, null,
				false);
		Granted granted = (Granted) locks().acquire(request);
		assertThat(granted.token()).isGreaterThan(first.lastToken());
		assertThat(granted.lastToken()).isEqualTo(granted.token() + 49_999);
		assertThat(look("stock").token()).isEqualTo(granted.lastToken());
		assertThat(locks().acquire(request)).isEqualTo(granted);
		release(key, Duration.ZERO);
		assertThat(granted("stock").token()).isGreaterThan(granted.lastToken());
	}

	@Test
	void twelveThreadsRacingForNewNamesGetOneGrantEachAndNoError() throws Exception {
		int threads = 12;
		CyclicBarrier start = new CyclicBarrier(threads);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			for (int i = 0; i < 25; i++) {
				String name = "new-" + i;
				List<Future<AcquireAnswer>> answers = new ArrayList<>();
				for (int t = 0; t < threads; t++) {
					answers.add(executor.submit(() -> {
						start.await();
						return acquire(key(name));
					}));
				}
				int grants = 0;
				for (Future<AcquireAnswer> answer : answers) {
					grants += (answer.get() instanceof Granted) ? 1 : 0;
				}
				assertThat(grants).isEqualTo(1);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void renewalProlongsToOneLeaseFromNow() {
		LeaseKey key = acquired("stock");
		endIn("stock", LEASE.dividedBy(2));
		Instant before = storeTime();
		assertThat(locks().renew(List.of(key), TIMEOUT)).isEmpty();
		LockInfo renewed = look("stock");
		assertLasts(renewed.expiresAt(), renewed.updatedAt(), before, LEASE.plus(marginOf(LEASE)));
		assertThat(renewed.updatedAt()).isAfterOrEqualTo(before);
		assertThat(renewed.holder()).isEqualTo(key.holder());
		assertThat(renewed.releasedAt()).isNull();
	}

	@Test
	void aLateRenewalNeverShortens() {
		LeaseKey key = acquired("stock");
		assertThat(locks().extend(key, Duration.ofHours(1), TIMEOUT)).isTrue();
		LockInfo extended = look("stock");
		assertThat(extended.expiresAt()).isAfter(storeTime().plus(LEASE).plus(marginOf(LEASE)));
		assertThat(locks().renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(locks().extend(key, Duration.ofMillis(1), TIMEOUT)).isTrue();
		LockInfo renewed = look("stock");
		assertThat(renewed.expiresAt()).isEqualTo(extended.expiresAt());
		assertThat(renewed.updatedAt()).isAfterOrEqualTo(extended.updatedAt());
	}

	@Test
	void anExactExtensionLengthensAndShortens() {
		LeaseKey key = acquired("stock");
		for (Duration exact : List.of(LEASE.multipliedBy(3), Duration.ofMinutes(1), LEASE)) {
			Instant before = storeTime();
			assertThat(locks().extendExactly(key, exact, TIMEOUT)).isTrue();
			LockInfo extended = look("stock");
			assertLasts(extended.expiresAt(), extended.updatedAt(), before, exact.plus(marginOf(exact)));
			assertThat(extended.updatedAt()).isAfterOrEqualTo(before);
			assertThat(extended.holder()).isEqualTo(key.holder());
		}
		assertThat(locks().extendExactly(key, Duration.ofMinutes(1), TIMEOUT)).isTrue();
		assertThat(locks().renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(look("stock").expiresAt()).isAfter(storeTime().plus(LEASE.dividedBy(2)));
	}

	@Test
	void anExactExtensionNeedsTheHolderAndItsLease() {
		LeaseKey key = acquired("stock");
		Object held = stored("stock");
		assertThat(locks().extendExactly(key("stock"), LEASE, TIMEOUT)).isFalse();
		assertThat(locks().extendExactly(key("unknown"), LEASE, TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(held);
		expire("stock");
		Object expired = stored("stock");
		assertThat(locks().extendExactly(key, LEASE, TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(expired);
		LeaseKey second = acquired("stock");
		assertThat(locks().extendExactly(key, Duration.ofMillis(1), TIMEOUT)).isFalse();
		assertThat(locks().renew(List.of(second), TIMEOUT)).isEmpty();
	}

	@Test
	void anExactExtensionEndsByTheServersClock() {
		LockRepository exact = exactLocks();
		LeaseKey key = key("stock");
		exact.acquire(request(key, LEASE));
		assertThat(exact.extendExactly(key, Duration.ofSeconds(2), TIMEOUT)).isTrue();
		LeaseKey second = key("stock");
		Awaitility.await()
			.pollInterval(Duration.ofMillis(1))
			.atMost(TIMEOUT)
			.until(() -> exact.acquire(request(second, LEASE)) instanceof Granted);
	}

	@Test
	void anExpiredLeaseIsNeverRevived() {
		LeaseKey key = acquired("stock");
		expire("stock");
		Object expired = stored("stock");
		Map<LeaseKey, Optional<LockInfo>> gone = locks().renew(List.of(key), TIMEOUT);
		assertThat(gone).containsOnlyKeys(key);
		assertThat(gone.get(key)).get().satisfies((lock) -> {
			assertThat(lock.held()).isFalse();
			assertThat(lock.holder()).isEqualTo(key.holder());
			assertThat(lock.remaining()).isZero();
		});
		assertThat(locks().extend(key, LEASE, TIMEOUT)).isFalse();
		assertThat(stored("stock")).isEqualTo(expired);
	}

	@Test
	void anExpiredHoldersReleaseAndRenewalNeverTouchItsSuccessorsLock() {
		LeaseKey first = acquired("stock");
		expire("stock");
		LeaseKey second = acquired("stock");
		Object successors = stored("stock");
		assertThat(locks().renew(List.of(first), TIMEOUT).get(first)).get()
			.extracting(LockInfo::holder)
			.isEqualTo(second.holder());
		assertThat(locks().extend(first, LEASE, TIMEOUT)).isFalse();
		assertThat(release(first, Duration.ZERO)).isFalse();
		assertThat(release(first, Duration.ofSeconds(5))).isFalse();
		assertThat(stored("stock")).isEqualTo(successors);
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
	}

	@Test
	void releaseFreesTheNameAtOnceAndKeepsTheToken() {
		LeaseKey key = acquired("stock");
		LockInfo held = look("stock");
		assertThat(release(key, Duration.ZERO)).isTrue();
		LockInfo released = look("stock");
		assertThat(released.held()).isFalse();
		assertThat(released.holder()).isNull();
		assertThat(released.expiresAt()).isNull();
		assertThat(released.releasedAt()).isAfterOrEqualTo(held.acquiredAt());
		assertThat(released.remaining()).isZero();
		assertThat(released.token()).isEqualTo(held.token());
		Object stored = stored("stock");
		assertThat(release(key, Duration.ZERO)).isFalse();
		assertThat(stored("stock")).isEqualTo(stored);
		acquired("stock");
		assertThat(look("stock").releasedAt()).isNull();
		assertThat(look("stock").held()).isTrue();
	}

	@Test
	void releaseByAnotherIdDoesNothing() {
		acquired("stock");
		Object held = stored("stock");
		assertThat(release(key("stock"), Duration.ZERO)).isFalse();
		assertThat(release(key("nothing"), Duration.ZERO)).isFalse();
		assertThat(stored("stock")).isEqualTo(held);
		assertThat(stored("nothing")).isNull();
	}

	@Test
	void aLeaseThatExpiredWithoutSuccessorIsReleasedById() {
		LeaseKey key = acquired("stock");
		expire("stock");
		assertThat(release(key, Duration.ZERO)).isTrue();
		assertThat(granted("stock")).isNotNull();
	}

	@Test
	void theMinimumHoldKeepsTheNameTakenAfterTheRelease() {
		Duration minHold = Duration.ofMinutes(5);
		LeaseKey key = acquired("stock");
		Instant before = storeTime();
		assertThat(release(key, minHold)).isTrue();
		LockInfo lock = ((Refused) acquire(key("stock"))).lock();
		assertThat(lock.held()).isFalse();
		assertThat(lock.holder()).isNull();
		assertThat(lock.releasedAt()).isAfterOrEqualTo(before);
		assertThat(lock.expiresAt()).isBetween(before.plus(minHold),
				storeTime().plus(minHold).plus(slack()).plusMillis(1));
		assertThat(lock.remaining()).isBetween(Duration.ofMillis(1),
				minHold.plus(slack().multipliedBy(2)).plusMillis(1));
		expire("stock");
		assertThat(granted("stock")).isNotNull();
	}

	@Test
	void forceReleaseRemovesTheHolderAndLeavesTheExpiry() {
		LeaseKey key = acquired("stock");
		LockInfo held = look("stock");
		assertThat(locks().forceRelease("stock")).isTrue();
		LockInfo forced = look("stock");
		assertThat(forced.held()).isFalse();
		assertThat(forced.holder()).isNull();
		assertThat(forced.releasedAt()).isNotNull();
		assertThat(forced.expiresAt()).isEqualTo(held.expiresAt());
		assertThat(locks().forceRelease("stock")).isFalse();
		assertThat(acquire(key("stock"))).isInstanceOf(Refused.class);
		assertThat(locks().renew(List.of(key), TIMEOUT)).containsOnlyKeys(key);
		assertThat(release(key, Duration.ZERO)).isFalse();
		assertThat(locks().forceRelease("nothing")).isFalse();
	}

	@Test
	void forceReleaseNowFreesTheName() {
		acquired("stock");
		assertThat(locks().forceReleaseNow("stock")).isTrue();
		assertThat(look("stock").holder()).isNull();
		assertThat(look("stock").expiresAt()).isNull();
		assertThat(look("stock").releasedAt()).isNotNull();
		assertThat(locks().forceReleaseNow("stock")).isFalse();
		assertThat(acquire(key("stock"))).isInstanceOf(Granted.class);
		assertThat(locks().forceReleaseNow("nothing")).isFalse();
	}

	@Test
	void forceReleaseNowEndsAMinimumHoldThatIsNotOver() {
		LeaseKey key = acquired("stock");
		release(key, LEASE);
		assertThat(locks().forceReleaseNow("stock")).isTrue();
		assertThat(look("stock").expiresAt()).isNull();
		release(acquired("stock"), LEASE);
		expire("stock");
		assertThat(locks().forceReleaseNow("stock")).isFalse();
	}

	@Test
	void renewalReturnsExactlyTheLostLeases() {
		List<LeaseKey> held = Stream.of("a", "b", "c").map(this::acquired).toList();
		LeaseKey expired = acquired("expired");
		expire("expired");
		LeaseKey overtaken = acquired("overtaken");
		expire("overtaken");
		LeaseKey successor = acquired("overtaken");
		LeaseKey deleted = acquired("deleted");
		forget("deleted");
		LeaseKey released = acquired("released");
		release(released, Duration.ZERO);
		List<LeaseKey> all = new ArrayList<>(held);
		all.addAll(List.of(expired, overtaken, deleted, released, successor));
		Map<LeaseKey, Optional<LockInfo>> gone = locks().renew(all, TIMEOUT);
		assertThat(gone).containsOnlyKeys(expired, overtaken, deleted, released);
		assertThat(gone.get(deleted)).isEmpty();
		assertThat(gone.get(overtaken)).get().extracting(LockInfo::holder).isEqualTo(successor.holder());
		assertThat(gone.get(released)).get().extracting(LockInfo::held).isEqualTo(false);
	}

	@Test
	void leasesOfDifferentLengthsAreRenewedEachByItsOwn() {
		LeaseKey longer = acquired("long");
		LeaseKey shorter = key("short");
		Duration half = LEASE.dividedBy(2);
		locks().acquire(request(shorter, half));
		endIn("long", LEASE.dividedBy(4));
		endIn("short", LEASE.dividedBy(4));
		Instant before = storeTime();
		assertThat(locks().renew(List.of(longer, shorter, longer), TIMEOUT)).isEmpty();
		LockInfo afterLong = look("long");
		LockInfo afterShort = look("short");
		assertLasts(afterLong.expiresAt(), afterLong.updatedAt(), before, LEASE.plus(marginOf(LEASE)));
		assertLasts(afterShort.expiresAt(), afterShort.updatedAt(), before, half.plus(marginOf(half)));
		assertThat(locks().renew(List.of(), TIMEOUT)).isEmpty();
	}

	@Test
	void aLeaseOfLessThanAMillisecondIsRoundedUp() {
		locks().acquire(request(key("stock"), Duration.ofNanos(1)));
		LockInfo lock = look("stock");
		assertThat(lock.expiresAt()).isAfterOrEqualTo(lock.acquiredAt().plusMillis(1));
	}

	@Test
	void listsByPrefixTakenLiterallyInTheOrderOfNames() {
		for (String name : List.of("a.b", "a.c", "a", "ab", "axb", "A.b", "a*", "\uD83D\uDD12x", "z")) {
			acquired(name);
		}
		assertThat(locks().findAll(ListRequest.all("a.")).locks()).extracting(LockInfo::name)
			.containsExactly("a.b", "a.c");
		assertThat(locks().findAll(ListRequest.all("a*")).locks()).extracting(LockInfo::name).containsExactly("a*");
		assertThat(locks().findAll(ListRequest.all("\uD83D\uDD12")).locks()).hasSize(1);
		assertThat(locks().findAll(ListRequest.all("zz")).locks()).isEmpty();
		assertThat(locks().findAll(ListRequest.all("")).locks()).hasSize(9).allMatch(LockInfo::held);
	}

	@Test
	void listsPageByPage() {
		for (String name : List.of("a", "b.1", "b.2", "b.3", "c")) {
			acquired(name);
		}
		LockPage first = locks().findAll(new ListRequest("b.", true, "", 2));
		assertThat(first.locks()).extracting(LockInfo::name).containsExactly("b.1", "b.2");
		assertThat(first.more()).isTrue();
		LockPage last = locks().findAll(new ListRequest("b.", true, "b.2", 2));
		assertThat(last.locks()).extracting(LockInfo::name).containsExactly("b.3");
		assertThat(last.more()).isFalse();
		LockPage all = locks().findAll(new ListRequest("b.", true, "a", 3));
		assertThat(all.locks()).extracting(LockInfo::name).containsExactly("b.1", "b.2", "b.3");
		assertThat(all.more()).isFalse();
		assertThat(locks().findAll(new ListRequest("b.", true, "c", 3)).locks()).isEmpty();
	}

	@Test
	void listsOnlyLocksThatAreUnavailable() {
		LeaseKey held = acquired("held");
		release(acquired("released"), Duration.ZERO);
		release(acquired("resting"), LEASE);
		acquired("taken away");
		locks().forceRelease("taken away");
		acquired("taken away at once");
		locks().forceReleaseNow("taken away at once");
		acquired("unavailable too");
		LockPage unavailable = locks().findAll(new ListRequest("", false, "", 3));
		assertThat(unavailable.locks()).extracting(LockInfo::name).containsExactly("held", "resting", "taken away");
		assertThat(unavailable.locks()).noneMatch((lock) -> lock.remaining().isZero());
		assertThat(unavailable.locks().get(0).holder()).isEqualTo(held.holder());
		assertThat(unavailable.more()).isTrue();
		assertThat(locks().findAll(ListRequest.all("")).locks()).hasSize(6);
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 0, LockPage.LARGEST + 1 })
	void pagesAreBounded(int limit) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ListRequest("", true, "", limit))
			.withMessageContaining("from 1 to 10000, not " + limit);
	}

	@Test
	void anUnknownNameIsNotFound() {
		assertThat(locks().find("nothing")).isEmpty();
		assertThat(locks().findAll(ListRequest.all("")).locks()).isEmpty();
	}

	@Test
	void aHolderIsAskedUntilItClosesTheRequests() {
		LeaseKey key = acquiredAskable("index");
		assertThat(ask("index", "first")).isEqualTo(AskAnswer.ASKED);
		assertThat(ask("index", "second")).isEqualTo(AskAnswer.ASKED);
		assertThat(closeRequests(key, null)).isEqualTo("second");
		assertThat(ask("index", "third")).isEqualTo(AskAnswer.ASKED);
		assertThat(closeRequests(key, "second")).isEqualTo("third");
		assertThat(closeRequests(key, "third")).isNull();
		assertThat(ask("index", "fourth")).isEqualTo(AskAnswer.NO_HOLDER);
		assertThat(look("index").held()).isTrue();
		// Repeated, since the answer may have been lost
		assertThat(closeRequests(key, "third")).isNull();
		assertThat(release(key, Duration.ZERO)).isTrue();
		assertThat(ask("index", "fifth")).isEqualTo(AskAnswer.NO_HOLDER);
	}

	@Test
	void aHolderThatWasNotAskedClosesTheRequests() {
		LeaseKey key = acquiredAskable("index");
		assertThat(closeRequests(key, null)).isNull();
		assertThat(ask("index", "late")).isEqualTo(AskAnswer.NO_HOLDER);
	}

	@Test
	void theNextHolderIsAskedAnew() {
		LeaseKey first = acquiredAskable("index");
		ask("index", "first");
		closeRequests(first, "first");
		release(first, Duration.ZERO);
		LeaseKey second = acquiredAskable("index");
		assertThat(ask("index", "second")).isEqualTo(AskAnswer.ASKED);
		assertThat(closeRequests(second, null)).isEqualTo("second");
		expire("index");
		LeaseKey third = acquiredAskable("index");
		assertThat(closeRequests(second, "second")).isNull();
		assertThat(ask("index", "third")).isEqualTo(AskAnswer.ASKED);
		assertThat(closeRequests(third, null)).isEqualTo("third");
	}

	@Test
	void aRequestDoesNotOutliveTheLeaseOfTheHolder() {
		LeaseKey key = acquiredAskable("index");
		expire("index");
		assertThat(ask("index", "late")).isEqualTo(AskAnswer.NO_HOLDER);
		assertThat(closeRequests(key, null)).isNull();
	}

	@Test
	void onlyAHolderThatRunsAgainIsAsked() {
		assertThat(ask("index", "first")).isEqualTo(AskAnswer.NO_HOLDER);
		LeaseKey askable = acquiredAskable("index");
		release(askable, Duration.ZERO);
		LeaseKey other = acquired("index");
		assertThat(ask("index", "second")).isEqualTo(AskAnswer.NOT_ASKABLE);
		assertThat(closeRequests(other, null)).isNull();
		expire("index");
		assertThat(ask("index", "third")).isEqualTo(AskAnswer.NO_HOLDER);
	}

	@Test
	void aLockInItsMinimumHoldIsNotAsked() {
		LeaseKey key = acquiredAskable("index");
		closeRequests(key, null);
		release(key, LEASE);
		assertThat(ask("index", "late")).isEqualTo(AskAnswer.NO_HOLDER);
	}

	@Test
	void aRequestChangesNothingElse() {
		LeaseKey key = acquiredAskable("index");
		LockInfo before = look("index");
		ask("index", "first");
		closeRequests(key, null);
		closeRequests(key, "first");
		LockInfo after = look("index");
		assertThat(after.expiresAt()).isEqualTo(before.expiresAt());
		assertThat(after.updatedAt()).isEqualTo(before.updatedAt());
		assertThat(after.token()).isEqualTo(before.token());
		assertThat(locks().renew(List.of(key), TIMEOUT)).isEmpty();
	}

	@Test
	void noRequestIsLostInARaceWithTheEndOfTheWork() throws Exception {
		ExecutorService executor = Executors.newSingleThreadExecutor();
		try {
			for (int i = 0; i < 50; i++) {
				LeaseKey key = acquiredAskable("index");
				String id = "request-" + i;
				Future<AskAnswer> answer = executor.submit(() -> ask("index", id));
				boolean served = closeRequests(key, null) != null;
				assertThat(answer.get()).isEqualTo(served ? AskAnswer.ASKED : AskAnswer.NO_HOLDER);
				release(key, Duration.ZERO);
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	private LeaseKey acquiredAskable(String name) {
		LeaseKey key = key(name);
		AcquireRequest request = new AcquireRequest(key, LEASE, "host-1", "main", "a test", TIMEOUT, 1, null, true);
		assertThat(locks().acquire(request)).isInstanceOf(Granted.class);
		return key;
	}

	private AskAnswer ask(String name, String id) {
		return locks().ask(name, id, TIMEOUT);
	}

	private String closeRequests(LeaseKey key, String seen) {
		return locks().closeRequests(key, seen, TIMEOUT).orElse(null);
	}

}
