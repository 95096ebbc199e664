package dev.dblock.mongodb;

import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;

@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ClassicOnReplicaSetTests extends MongoJobContract {

	@Override
	StatementDialect dialect() {
		return StatementDialect.CLASSIC;
	}

}
