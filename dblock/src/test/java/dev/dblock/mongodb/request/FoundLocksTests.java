package dev.dblock.mongodb.request;

import java.util.List;
import java.util.Optional;

import dev.dblock.LockInfo;
import dev.dblock.store.LeaseKey;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;

import org.springframework.dao.TransientDataAccessResourceException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FoundLocksTests {

	private static final long NOW = 1_000_000;

	private static final LeaseKey A = new LeaseKey("a", "me");

	private static final LeaseKey B = new LeaseKey("b", "me");

	private final FoundLocks found = new FoundLocks();

	private static BsonDocument stored(String name, String holder, long expiresAt) {
		return new BsonDocument("_id", new BsonString(name)).append("holder", new BsonString(holder))
			.append("token", new BsonInt64(1))
			.append("leaseMillis", new BsonInt64(1))
			.append("acquiredAt", new BsonDateTime(0))
			.append("expiresAt", new BsonDateTime(expiresAt));
	}

	@Test
	void aLeaseThatEndsNowIsGone() {
		this.found.add(stored("a", "me", NOW), NOW);
		this.found.add(stored("b", "me", NOW + 1), NOW);
		assertThat(this.found.gone(List.of(A, B), 1)).containsOnlyKeys(A);
	}

	@Test
	void aLeaseWhoseDocumentIsMissingIsGoneWithoutState() {
		this.found.add(stored("a", "other", NOW + 1), NOW);
		assertThat(this.found.gone(List.of(A, B), 0)).containsEntry(B, Optional.empty())
			.hasEntrySatisfying(A, (lock) -> assertThat(lock).get().extracting(LockInfo::holder).isEqualTo("other"));
	}

	@Test
	void answersThatContradictEachOtherProveNoLease() {
		this.found.add(stored("a", "me", NOW + 1), NOW);
		this.found.add(stored("b", "me", NOW + 1), NOW);
		assertThatExceptionOfType(TransientDataAccessResourceException.class)
			.isThrownBy(() -> this.found.gone(List.of(A, B), 1))
			.withMessageContaining("Renew again");
	}

	@Test
	void aLeaseThatIsStillThereButWasNotProlongedIsNotProven() {
		this.found.add(stored("a", "other", NOW + 30_000), NOW);
		this.found.add(stored("b", "me", NOW + 200).append("leaseMillis", new BsonInt64(30_000)), NOW);
		assertThatExceptionOfType(TransientDataAccessResourceException.class)
			.isThrownBy(() -> this.found.gone(List.of(A, B), 1))
			.withMessageContaining("1 are gone, and 0 already last long enough");
	}

	@Test
	void aLeaseThatWasProlongedIsProvenThoughAnotherIsGone() {
		this.found.add(stored("a", "other", NOW + 30_000), NOW);
		this.found.add(stored("b", "me", NOW + 25_001).append("leaseMillis", new BsonInt64(30_000)), NOW);
		assertThat(this.found.gone(List.of(A, B), 1)).containsOnlyKeys(A);
	}

}
