package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import dev.dblock.LockInfo;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.Permits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of all stores for locks with permits.
 */
public abstract class PermitRepositoryContract extends LockRepositoryContract {

	private static final String SECOND = "export (permit 2)";

	private static final String THIRD = "export (permit 3)";

	public static LeaseKey key(String name, int permits) {
		return LeaseKey.of(name, UUID.randomUUID().toString(), permits);
	}

	protected final AcquireAnswer acquire(String name, int permits) {
		return acquire(key(name, permits));
	}

	protected final LeaseKey acquired(String name, int permits) {
		LeaseKey key = key(name, permits);
		return key.granted(((Granted) acquire(key)).permit());
	}

	protected final List<LeaseKey> allAcquired(String name, int permits) {
		return IntStream.range(0, permits)
			.mapToObj((i) -> acquired(name, permits))
			.sorted(Comparator.comparing(LeaseKey::permit))
			.toList();
	}

	private static AcquireRequest shorter(LeaseKey key) {
		return request(key, LEASE.dividedBy(2));
	}

	@Test
	void eachPermitHasAHolderALeaseAndATokenOfItsOwn() {
		LeaseKey first = acquired("export", 3);
		assertThat(first.permit()).isEqualTo(1);
		LeaseKey second = key("export", 3);
		Granted granted = (Granted) locks().acquire(shorter(second));
		second = second.granted(granted.permit());
		LeaseKey third = acquired("export", 3);
		assertThat(List.of(first.id(), second.id(), third.id())).containsExactlyInAnyOrder("export", SECOND, THIRD);
		for (LeaseKey key : List.of(first, second, third)) {
			LockInfo lock = look(key.id());
			assertThat(lock.name()).isEqualTo(key.id());
			assertThat(lock.held()).isTrue();
			assertThat(lock.holder()).isEqualTo(key.holder());
			assertThat(lock.permits()).isEqualTo(3);
		}
		assertThat(look(second.id()).token()).isEqualTo(granted.lastToken());
		assertThat(look(second.id()).acquiredAt()).isEqualTo(granted.acquiredAt());
		assertThat(look(second.id()).expiresAt()).isBefore(look(first.id()).expiresAt());
	}

	@Test
	void aRefusalReturnsTheStatesOfAllPermitsAndTheFirstToBecomeAvailable() {
		List<LeaseKey> held = allAcquired("export", 3);
		endIn(SECOND, Duration.ofMinutes(1));
		Refused refused = (Refused) acquire("export", 3);
		assertThat(refused.permits()).extracting(LockInfo::name).containsExactly("export", SECOND, THIRD);
		assertThat(refused.permits()).extracting(LockInfo::holder)
			.containsExactlyInAnyOrderElementsOf(held.stream().map(LeaseKey::holder).toList());
		assertThat(refused.permits()).allMatch(LockInfo::held).extracting(LockInfo::permits).containsOnly(3);
		assertThat(refused.lock()).isEqualTo(refused.permits().get(1));
		assertThat(refused.verdict()).isNull();
	}

	@Test
	void aRefusalLeavesThePermitsUntouched() {
		allAcquired("export", 2);
		Object first = stored("export");
		Object second = stored(SECOND);
		assertThat(acquire("export", 2)).isInstanceOf(Refused.class);
		assertThat(stored("export")).isEqualTo(first);
		assertThat(stored(SECOND)).isEqualTo(second);
		assertThat(stored(THIRD)).isNull();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 3, 12 })
	void inARaceAllPermitsAreGrantedAndNoMore(int permits) throws Exception {
		int threads = 12;
		CyclicBarrier start = new CyclicBarrier(threads);
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			for (int i = 0; i < 12; i++) {
				// Once for new documents, and then for stored ones
				String name = "race-" + i / 3;
				List<Future<LeaseKey>> answers = new ArrayList<>();
				for (int t = 0; t < threads; t++) {
					answers.add(executor.submit(() -> {
						LeaseKey key = key(name, permits);
						start.await();
						return (acquire(key) instanceof Granted granted) ? key.granted(granted.permit()) : null;
					}));
				}
				Map<String, LeaseKey> grants = new HashMap<>();
				for (Future<LeaseKey> answer : answers) {
					LeaseKey granted = answer.get();
					if (granted != null) {
						assertThat(grants.put(granted.id(), granted)).isNull();
					}
				}
				assertThat(grants).containsOnlyKeys(Permits.ids(name, permits));
				grants.forEach((id, granted) -> assertThat(look(id).holder()).isEqualTo(granted.holder()));
				grants.values().forEach((granted) -> assertThat(release(granted, Duration.ZERO)).isTrue());
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void neverMoreHoldersThanPermitsWhileTheyComeAndGo() throws Exception {
		int threads = 8;
		int permits = 3;
		Map<String, String> holders = new ConcurrentHashMap<>();
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			List<Future<Integer>> counts = new ArrayList<>();
			for (int t = 0; t < threads; t++) {
				counts.add(executor.submit(() -> {
					int grants = 0;
					for (int i = 0; i < 40; i++) {
						LeaseKey key = key("busy", permits);
						if (acquire(key) instanceof Granted granted) {
							LeaseKey held = key.granted(granted.permit());
							assertThat(holders.putIfAbsent(held.id(), held.holder())).isNull();
							Thread.yield();
							holders.remove(held.id());
							assertThat(release(held, Duration.ZERO)).isTrue();
							grants++;
						}
					}
					return grants;
				}));
			}
			int grants = 0;
			for (Future<Integer> count : counts) {
				grants += count.get();
			}
			assertThat(grants).isGreaterThan(permits);
			assertThat(locks().findAll(ListRequest.all("busy")).locks()).hasSizeLessThanOrEqualTo(permits);
		}
		finally {
			executor.shutdownNow();
		}
	}

	@Test
	void aReleaseFreesThatPermitOnly() {
		List<LeaseKey> held = allAcquired("export", 3);
		LeaseKey second = held.stream().filter((key) -> key.permit() == 2).findAny().orElseThrow();
		assertThat(release(second, Duration.ZERO)).isTrue();
		assertThat(release(second, Duration.ZERO)).isFalse();
		assertThat(look(SECOND).held()).isFalse();
		assertThat(acquired("export", 3).permit()).isEqualTo(2);
		assertThat(acquire("export", 3)).isInstanceOf(Refused.class);
	}

	@Test
	void aReleaseInDoubtFreesWhicheverPermitWasGranted() {
		List<LeaseKey> held = allAcquired("export", 3);
		for (LeaseKey key : held) {
			LeaseKey doubtful = LeaseKey.of("export", key.holder(), 3);
			assertThat(doubtful.permit()).isZero();
			assertThat(release(doubtful, Duration.ZERO)).isTrue();
			assertThat(look(key.id()).holder()).isNull();
			assertThat(release(doubtful, Duration.ZERO)).isFalse();
		}
		assertThat(release(key("export", 3), Duration.ZERO)).isFalse();
		assertThat(release(key("unknown", 3), Duration.ZERO)).isFalse();
		assertThat(stored("unknown")).isNull();
	}

	@Test
	void aReleaseInDoubtKeepsTheMinimumHold() {
		List<LeaseKey> held = allAcquired("export", 2);
		LeaseKey second = held.get(1);
		assertThat(release(LeaseKey.of("export", second.holder(), 2), Duration.ofMinutes(5))).isTrue();
		assertThat(look(SECOND).holder()).isNull();
		assertThat(look(SECOND).remaining()).isPositive();
		assertThat(look("export").holder()).isEqualTo(held.get(0).holder());
	}

	@Test
	void aPermitInItsMinimumHoldIsUnavailable() {
		List<LeaseKey> held = allAcquired("export", 2);
		release(held.get(0), Duration.ofMinutes(5));
		Refused refused = (Refused) acquire("export", 2);
		assertThat(refused.lock().name()).isEqualTo("export");
		assertThat(refused.lock().held()).isFalse();
		expire("export");
		assertThat(acquired("export", 2).permit()).isEqualTo(1);
	}

	@Test
	void severalPermitsOfOneLockAreRenewedInOneRequest() {
		List<LeaseKey> held = allAcquired("export", 3);
		held.forEach((key) -> endIn(key.id(), LEASE.dividedBy(2)));
		assertThat(locks().renew(held, TIMEOUT)).isEmpty();
		assertThat(held).allSatisfy(
				(key) -> assertThat(look(key.id()).remaining()).isGreaterThan(LEASE.dividedBy(4).multipliedBy(3)));
		expire(SECOND);
		LeaseKey successor = acquired("export", 3);
		assertThat(successor.permit()).isEqualTo(2);
		LeaseKey lost = held.get(1);
		List<LeaseKey> all = new ArrayList<>(held);
		all.add(successor);
		assertThat(locks().renew(all, TIMEOUT)).containsOnlyKeys(lost)
			.hasEntrySatisfying(lost,
					(lock) -> assertThat(lock).get().extracting(LockInfo::holder).isEqualTo(successor.holder()));
		assertThat(release(lost, Duration.ZERO)).isFalse();
		assertThat(release(LeaseKey.of("export", lost.holder(), 3), Duration.ZERO)).isFalse();
		assertThat(look(SECOND).holder()).isEqualTo(successor.holder());
	}

	@Test
	void aPermitIsExtended() {
		LeaseKey key = allAcquired("export", 2).get(1);
		Object other = stored("export");
		assertThat(locks().extend(key, LEASE.multipliedBy(2), TIMEOUT)).isTrue();
		assertThat(look(SECOND).remaining()).isGreaterThan(LEASE.dividedBy(2).multipliedBy(3));
		assertThat(locks().extendExactly(key, LEASE.dividedBy(2), TIMEOUT)).isTrue();
		assertThat(look(SECOND).remaining()).isLessThan(LEASE);
		expire(SECOND);
		assertThat(locks().extend(key, LEASE, TIMEOUT)).isFalse();
		assertThat(locks().extendExactly(key, LEASE, TIMEOUT)).isFalse();
		assertThat(stored("export")).isEqualTo(other);
	}

	@Test
	void theTokensOfEachPermitRise() {
		Map<Integer, Long> last = new HashMap<>(Map.of(1, 0L, 2, 0L));
		for (int i = 0; i < 15; i++) {
			for (int each = 0; each < 2; each++) {
				LeaseKey key = key("export", 2);
				Granted granted = (Granted) acquire(key);
				assertThat(granted.token()).isGreaterThan(last.get(granted.permit()));
				assertThat(granted.lastToken()).isEqualTo(granted.token() + 1023);
				last.put(granted.permit(), granted.lastToken());
			}
			assertThat(look("export").token()).isEqualTo(last.get(1));
			assertThat(look(SECOND).token()).isEqualTo(last.get(2));
			for (String id : List.of("export", SECOND)) {
				switch (i % 3) {
					case 0 -> release(new LeaseKey(id, look(id).holder()), Duration.ZERO);
					case 1 -> expire(id);
					default -> locks().forceReleaseNow(id);
				}
			}
		}
	}

	@Test
	void aPermitThatIsNoLongerStoredIsCreatedAgain() {
		allAcquired("export", 3);
		forget(SECOND);
		assertThat(acquired("export", 3).permit()).isEqualTo(2);
		assertThat(acquire("export", 3)).isInstanceOf(Refused.class);
		forget("export");
		forget(THIRD);
		assertThat(List.of(acquired("export", 3).permit(), acquired("export", 3).permit())).containsExactly(1, 3);
		assertThat(acquire("export", 3)).isInstanceOf(Refused.class);
	}

	@Test
	void aPlainLockIsRefusedWhileItsNameHasPermits() {
		LeaseKey holder = acquired("export", 3);
		Refused held = (Refused) acquire(key("export"));
		assertThat(held.lock().holder()).isEqualTo(holder.holder());
		assertThat(held.permits()).isEmpty();
		release(holder, Duration.ZERO);
		Object before = stored("export");
		Refused free = (Refused) acquire(key("export"));
		assertThat(free.lock().held()).isFalse();
		assertThat(free.lock().remaining()).isZero();
		assertThat(free.lock().permits()).isEqualTo(3);
		assertThat(stored("export")).isEqualTo(before);
	}

	@Test
	void aPlainLockIsOneOfThePermits() {
		LeaseKey plain = acquired("export");
		assertThat(look("export").permits()).isZero();
		assertThat(acquired("export", 2).permit()).isEqualTo(2);
		assertThat(acquire("export", 2)).isInstanceOf(Refused.class);
		assertThat(release(plain, Duration.ZERO)).isTrue();
		LeaseKey key = key("export", 2);
		Granted granted = (Granted) acquire(key);
		assertThat(granted.permit()).isEqualTo(1);
		assertThat(granted.earlierPermits()).isZero();
		assertThat(look("export").permits()).isEqualTo(2);
	}

	@Test
	void onePermitLeadsBackToAPlainLock() {
		LeaseKey several = acquired("export", 3);
		assertThat(((Refused) acquire("export", 1)).lock().holder()).isEqualTo(several.holder());
		release(several, Duration.ZERO);
		LeaseKey one = key("export", 1);
		Granted granted = (Granted) acquire(one);
		assertThat(granted.permit()).isEqualTo(1);
		assertThat(granted.earlierPermits()).isEqualTo(3);
		assertThat(look("export").permits()).isEqualTo(1);
		assertThat(acquire(key("export"))).isInstanceOf(Refused.class);
		assertThat(acquire("export", 1)).isInstanceOf(Refused.class);
		release(one, Duration.ZERO);
		LeaseKey plain = acquired("export");
		assertThat(locks().renew(List.of(plain), TIMEOUT)).isEmpty();
		release(plain, Duration.ZERO);
		assertThat(((Granted) acquire("export", 1)).earlierPermits()).isZero();
	}

	@Test
	void instancesWithDifferentNumbersHaveAtMostTheLargerNumberOfHolders() {
		List<LeaseKey> three = allAcquired("export", 3);
		Refused two = (Refused) acquire("export", 2);
		assertThat(two.permits()).extracting(LockInfo::permits).containsExactly(3, 3);
		release(three.get(2), Duration.ZERO);
		assertThat(acquire("export", 2)).isInstanceOf(Refused.class);
		release(three.get(1), Duration.ZERO);
		LeaseKey key = key("export", 2);
		Granted fewer = (Granted) acquire(key);
		assertThat(fewer.permit()).isEqualTo(2);
		assertThat(fewer.earlierPermits()).isEqualTo(3);
		assertThat(acquired("export", 3).permit()).isEqualTo(3);
		assertThat(acquire("export", 3)).isInstanceOf(Refused.class);
		release(key.granted(2), Duration.ZERO);
		assertThat(((Granted) acquire("export", 2)).earlierPermits()).isZero();
		expire(SECOND);
		for (int i = 0; i < 3; i++) {
			Granted more = (Granted) acquire("export", 5);
			assertThat(more.earlierPermits()).isEqualTo((more.permit() == 2) ? 2 : 0);
			assertThat(look(Permits.id("export", more.permit())).permits()).isEqualTo(5);
		}
		assertThat(acquire("export", 5)).isInstanceOf(Refused.class);
	}

	@Test
	void operatorsFindAndReleaseEachPermit() {
		List<LeaseKey> held = allAcquired("export", 3);
		assertThat(locks().findAll(ListRequest.all("export")).locks()).extracting(LockInfo::name)
			.containsExactly("export", SECOND, THIRD);
		assertThat(locks().forceRelease(SECOND)).isTrue();
		assertThat(look(SECOND).held()).isFalse();
		assertThat(acquire("export", 3)).isInstanceOf(Refused.class);
		assertThat(locks().forceReleaseNow(SECOND)).isTrue();
		assertThat(acquired("export", 3).permit()).isEqualTo(2);
		assertThat(locks().forceReleaseNow("export")).isTrue();
		assertThat(look(THIRD).holder()).isIn(held.stream().map(LeaseKey::holder).toList());
		assertThat(locks().renew(held, TIMEOUT)).hasSize(2);
	}

	@Test
	void theNameOfALockMayLookLikeThatOfAPermit() {
		List<LeaseKey> held = allAcquired(SECOND, 2);
		assertThat(held).extracting(LeaseKey::id).containsExactly(SECOND, SECOND + " (permit 2)");
		assertThat(acquire(SECOND, 2)).isInstanceOf(Refused.class);
		held.forEach((key) -> assertThat(release(key, Duration.ZERO)).isTrue());
		assertThat(allAcquired(SECOND, 2)).extracting(LeaseKey::permit).containsExactly(1, 2);
	}

	@Test
	void allOfManyPermitsAreGranted() {
		List<LeaseKey> held = allAcquired("export", 40);
		assertThat(held).extracting(LeaseKey::id).containsExactlyInAnyOrderElementsOf(Permits.ids("export", 40));
		assertThat(((Refused) acquire("export", 40)).permits()).hasSize(40);
		assertThat(locks().renew(held, TIMEOUT)).isEmpty();
		release(held.get(39), Duration.ZERO);
		assertThat(acquired("export", 40).permit()).isEqualTo(held.get(39).permit());
	}

}
