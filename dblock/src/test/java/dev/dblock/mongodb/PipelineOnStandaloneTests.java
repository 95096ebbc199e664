package dev.dblock.mongodb;

import java.time.Instant;
import java.util.List;

import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@MongoServerTest(kind = MongoServerKind.STANDALONE)
class PipelineOnStandaloneTests extends MongoJobContract {

	private static final int LARGEST_DOCUMENT = 16 * 1024 * 1024;

	@Override
	StatementDialect dialect() {
		return StatementDialect.PIPELINE;
	}

	@Test
	void aJobKeepsRunningWhenItsRecordFillsTheDocument() {
		Instant at = past(30);
		ended(skip(at), JobRun.Outcome.SUCCEEDED);
		set("stock", "jobs.nightly.runs", List.of(new Document("x", "x".repeat(LARGEST_DOCUMENT - 1500))));
		set("stock", "filled", "x".repeat(LARGEST_DOCUMENT - 20 - size(stored("stock"))));
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
		ended(skip(at.plusSeconds(1)), JobRun.Outcome.SUCCEEDED);
		assertThat(stored("stock").toJson()).hasSizeLessThan(100_000);
		assertThat(refused(skip(at)).reason()).isEqualTo(Reason.DONE);
	}

	private static int size(Document document) {
		return new RawBsonDocument(document.toBsonDocument(), new BsonDocumentCodec()).getByteBuffer().remaining();
	}

}
