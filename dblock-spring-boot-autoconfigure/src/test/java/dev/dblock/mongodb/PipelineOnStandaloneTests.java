package dev.dblock.mongodb;

import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;

@MongoServerTest(kind = MongoServerKind.STANDALONE)
class PipelineOnStandaloneTests extends MongoJobContract {

	@Override
	StatementDialect dialect() {
		return StatementDialect.PIPELINE;
	}

}
