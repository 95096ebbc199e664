package dev.dblock.testing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoCredential;

/**
 * Connection strings with another database than they came with.
 */
final class ConnectionStrings {

	private ConnectionStrings() {
	}

	static String withDatabase(String uri, String database) {
		int question = uri.indexOf('?');
		String base = (question < 0) ? uri : uri.substring(0, question);
		String options = (question < 0) ? "" : uri.substring(question + 1);
		int slash = base.indexOf('/', base.indexOf("://") + 3);
		String hosts = (slash < 0) ? base : base.substring(0, slash);
		MongoCredential credential = new ConnectionString(uri).getCredential();
		// users live in the database of the original string unless it says otherwise
		if (credential != null && !options.contains("authSource=")) {
			options += (options.isEmpty() ? "" : "&") + "authSource=" + credential.getSource();
		}
		return hosts + "/" + database + (options.isEmpty() ? "" : "?" + options);
	}

}
