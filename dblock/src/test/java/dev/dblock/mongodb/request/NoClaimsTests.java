package dev.dblock.mongodb.request;

import java.time.Instant;

import dev.dblock.claim.ClaimRecord;
import dev.dblock.job.JobFiring;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.InvalidDataAccessApiUsageException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class NoClaimsTests {

	private final ClaimStatements claims = new NoClaims();

	@ParameterizedTest
	@ValueSource(strings = { "{}", "{holder: 'me'}", "{holder: 'me', jobs: {}}",
			"{holder: 'me', jobs: {nightly: {last: {holder: 'another'}, runs: [{holder: 'a third'}], paused: null}}}" })
	void aForcedReleaseThatEndsNoClaimRecordsNothing(String stored) {
		assertThat(this.claims.forced(BsonDocument.parse(stored), "me")).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{holder: 'me', jobs: {other: {}, nightly: {last: {holder: 'me'}}}}",
			"{holder: 'me', jobs: {nightly: {runs: [{holder: 'another'}, {holder: 'me'}]}}}" })
	void aForcedReleaseThatEndsAClaimIsRefused(String stored) {
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.claims.forced(BsonDocument.parse(stored), "me"))
			.withMessageContaining("Add dblock-jobs");
	}

	@Test
	void aClaimIsRefused() {
		JobFiring claim = JobFiring.at(Instant.EPOCH);
		ClaimRecord.Request request = new ClaimRecord.Request(claim, claim.key("nightly"), "me", "host-1");
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class)
			.isThrownBy(() -> this.claims.expressions(request))
			.withMessageContaining("Add dblock-jobs");
		assertThat(this.claims.rehearsal("check", "text")).isNull();
	}

}
