package dev.dblock.mongodb.client;

import java.lang.reflect.Method;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.MongoDatabaseFactorySupport;
import org.springframework.util.ReflectionUtils;

/**
 * The client that a factory stands on, as far as the factory shows it.
 */
final class FactoryClient {

	/**
	 * Spring Data 4 (Spring Boot 3) shows it to subclasses only, and calls it so.
	 */
	static final String OLDER = "getMongoClient";

	/**
	 * The driver's own client shows its settings by this, if not in its interface.
	 */
	static final String SETTINGS = "getSettings";

	private static final @Nullable Method OLDER_METHOD = older();

	private FactoryClient() {
	}

	private static @Nullable Method older() {
		Method method = ReflectionUtils.findMethod(MongoDatabaseFactorySupport.class, OLDER);
		if (method != null) {
			ReflectionUtils.makeAccessible(method);
		}
		return method;
	}

	static @Nullable MongoClient of(MongoDatabaseFactory factory) {
		if (!(factory instanceof MongoDatabaseFactorySupport<?> support)) {
			return null;
		}
		Object client = (OLDER_METHOD != null) ? ReflectionUtils.invokeMethod(OLDER_METHOD, support)
				: support.getMongoCluster();
		return (client instanceof MongoClient found) ? found : null;
	}

	/**
	 * The settings that a client was made with, as far as it shows them.
	 */
	static @Nullable MongoClientSettings settingsOf(MongoClient client) {
		Method method = ReflectionUtils.findMethod(client.getClass(), SETTINGS);
		if (method == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(method);
		return (ReflectionUtils.invokeMethod(method, client) instanceof MongoClientSettings settings) ? settings : null;
	}

}
