package dev.dblock.mongodb.request;

import com.mongodb.MongoException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * A primary has done what it was told to, and cannot say that a majority has. The
 * driver's own exception for that names a server, which who sends a command is not told.
 */
final class UnconfirmedWriteException extends MongoException {

	static final String FIELD = "writeConcernError";

	private static final long serialVersionUID = 1L;

	UnconfirmedWriteException(BsonDocument answer) {
		super(code(answer), "The write was not confirmed by a majority: " + message(answer), answer);
	}

	private static int code(BsonDocument answer) {
		return answer.getDocument(FIELD).getNumber("code", new BsonInt32(-1)).intValue();
	}

	private static String message(BsonDocument answer) {
		return answer.getDocument(FIELD).getString("errmsg", new BsonString("no reason given")).getValue();
	}

}
