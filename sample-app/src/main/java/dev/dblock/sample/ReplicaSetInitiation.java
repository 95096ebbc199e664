package dev.dblock.sample;

import java.util.ArrayList;
import java.util.List;

import com.mongodb.ConnectionString;
import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.bson.Document;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * Initiates a replica set of the servers in {@code spring.mongodb.uri}, if this is
 * requested and has not been done. The script that starts the servers therefore does not
 * need the MongoDB Shell.
 */
class ReplicaSetInitiation implements EnvironmentPostProcessor, Ordered {

	static final String WANTED = "sample.initiate-replica-set";

	private static final int ALREADY_INITIALIZED = 23;

	@Override
	public void postProcessEnvironment(ConfigurableEnvironment environment, SpringApplication application) {
		if (environment.getProperty(WANTED, Boolean.class, false)) {
			initiate(new ConnectionString(environment.getRequiredProperty("spring.mongodb.uri")));
		}
	}

	private static void initiate(ConnectionString uri) {
		String name = uri.getRequiredReplicaSetName();
		if (name == null) {
			throw new IllegalArgumentException(
					WANTED + " needs the name of the set: spring.mongodb.uri=mongodb://host/sample?replicaSet=name");
		}
		List<Document> members = new ArrayList<>();
		for (String host : uri.getHosts()) {
			members.add(new Document("_id", members.size()).append("host", host));
		}
		Document set = new Document("_id", name).append("members", members);
		try (MongoClient client = MongoClients
			.create("mongodb://" + uri.getHosts().get(0) + "/?directConnection=true")) {
			client.getDatabase("admin").runCommand(new Document("replSetInitiate", set));
		}
		catch (MongoCommandException ex) {
			if (ex.getErrorCode() != ALREADY_INITIALIZED) {
				throw ex;
			}
		}
	}

	@Override
	public int getOrder() {
		return ConfigDataEnvironmentPostProcessor.ORDER + 2;
	}

}
