package dev.dblock.mongodb.request;

import com.mongodb.MongoException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * Thrown when a primary has applied a write but cannot confirm it by a majority. The
 * driver's own exception for this contains the address of the server, which the sender of
 * a command does not know.
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
