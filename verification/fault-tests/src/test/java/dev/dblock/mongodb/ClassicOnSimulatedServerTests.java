package dev.dblock.mongodb;

import dev.dblock.mongodb.MongoLockSettings.StatementDialect;

/**
 * The same for the classic dialect.
 */
class ClassicOnSimulatedServerTests extends PipelineOnSimulatedServerTests {

	@Override
	StatementDialect dialect() {
		return StatementDialect.CLASSIC;
	}

}
