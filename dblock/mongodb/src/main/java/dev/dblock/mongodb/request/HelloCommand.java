package dev.dblock.mongodb.request;

import com.mongodb.MongoCommandException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * The command by which a server describes itself.
 */
final class HelloCommand {

	private static final int COMMAND_NOT_FOUND = 59;

	private static final String OLD_NAME = "isMaster";

	private volatile String command = "hello";

	/**
	 * Send the command to the server that accepts writes. Uses the command's old name
	 * after the server has rejected the new one.
	 * @param store the store
	 * @return the answer
	 */
	BsonDocument say(StoreRequest store) {
		// Another thread may change the field in the meantime.
		String command = this.command;
		try {
			return store.command(new BsonDocument(command, new BsonInt32(1)));
		}
		catch (MongoCommandException ex) {
			if (ex.getErrorCode() != COMMAND_NOT_FOUND || command.equals(OLD_NAME)) {
				throw ex;
			}
			this.command = OLD_NAME;
			return say(store);
		}
	}

	/**
	 * Return whether the server can support transactions: only members of a replica set
	 * and the routers of a sharded cluster can.
	 * @param store the store
	 * @return whether it can
	 */
	boolean reportsTransactions(StoreRequest store) {
		BsonDocument answer = say(store);
		return answer.containsKey("setName") || isRouter(answer);
	}

	static boolean isRouter(BsonDocument answer) {
		return answer.getString("msg", new BsonString("")).getValue().equals("isdbgrid");
	}

}
