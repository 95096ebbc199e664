package dev.dblock.mongodb;

import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RenewalBatchesTests {

	private static List<LeaseKey> leases(int count, String namePrefix) {
		return IntStream.range(0, count).mapToObj((i) -> new LeaseKey(namePrefix + i, "holder-" + i)).toList();
	}

	@Test
	void manyLeasesAreCutByNumber() {
		List<LeaseKey> leases = leases(10_001, "lease-");
		List<List<LeaseKey>> batches = RenewalBatches.of(leases);
		assertThat(batches).extracting(List::size).containsExactly(5000, 5000, 1);
		assertThat(batches.stream().flatMap(List::stream)).containsExactlyElementsOf(leases);
	}

	@Test
	void theLongestNamesFitIntoACommand() {
		assertThat(RenewalBatches.of(leases(10_000, "n".repeat(995))))
			.allSatisfy((batch) -> assertThat(batch.stream().mapToInt((lease) -> lease.name().length()).sum())
				.isLessThan(8_000_000));
	}

	@Test
	void oneTwoAndManyAreDescribedInOneSentence() {
		assertThat(RenewalBatches.describe(leases(1, "lease-"))).isEqualTo("renew the lock 'lease-0'");
		assertThat(RenewalBatches.describe(leases(2, "lease-"))).isEqualTo("renew the locks 'lease-0' and 'lease-1'");
		assertThat(RenewalBatches.describe(leases(3, "lease-"))).isEqualTo("renew the lock 'lease-0' and 2 others");
	}

	@Test
	void aLeaseThatIsNamedTwiceIsRenewedOnce() {
		LeaseKey lease = new LeaseKey("stock", "me");
		assertThat(RenewalBatches.of(List.of(lease, lease))).containsExactly(List.of(lease));
		assertThat(RenewalBatches.of(List.of())).isEmpty();
	}

}
