package dev.dblock.mongodb;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.WriteConcernError;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Fences}.
 */
class FencesTests {

	private static final int DUPLICATE_KEY = 11000;

	private static final int WRITE_CONFLICT = 112;

	private static MongoBulkWriteException failure(@Nullable WriteConcernError unconfirmed, int... codes) {
		List<BulkWriteError> errors = IntStream.range(0, codes.length)
			.mapToObj((i) -> new BulkWriteError(codes[i], "scripted", new BsonDocument(), i))
			.toList();
		return new MongoBulkWriteException(BulkWriteResult.unacknowledged(), errors, unconfirmed, new ServerAddress(),
				Set.of());
	}

	@Test
	void writesThatOthersWereFirstWithAreRepeated() {
		assertThat(Fences.isDuplicate(failure(null, DUPLICATE_KEY, DUPLICATE_KEY))).isTrue();
	}

	@Test
	void writesThatFailedForOtherReasonsAreNot() {
		assertThat(Fences.isDuplicate(failure(null, DUPLICATE_KEY, WRITE_CONFLICT))).isFalse();
		WriteConcernError unconfirmed = new WriteConcernError(64, "WriteConcernTimeout", "scripted",
				new BsonDocument());
		assertThat(Fences.isDuplicate(failure(unconfirmed, DUPLICATE_KEY))).isFalse();
	}

}
