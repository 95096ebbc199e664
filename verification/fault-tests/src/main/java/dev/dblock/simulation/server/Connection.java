package dev.dblock.simulation.server;

import java.time.Duration;

import org.bson.BsonDocument;

/**
 * Sends commands of a driver to a server.
 */
public interface Connection {

	/**
	 * Send a command, and wait for its answer.
	 * @param limit how long to wait
	 * @return the answer of the server, which can be an error
	 * @throws com.mongodb.MongoException if there is none
	 */
	BsonDocument send(BsonDocument command, Duration limit);

	/**
	 * Return the number of the election of the primary that is known here.
	 */
	default int election() {
		return 0;
	}

}
