package dev.dblock.mongodb.client;

import java.lang.reflect.Method;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.MongoDatabaseFactorySupport;
import org.springframework.util.ReflectionUtils;

/**
 * Determines the client of a factory, as far as the factory exposes it.
 */
final class FactoryClient {

	/**
	 * The name of the protected method that exposes the client in Spring Data 4 (Spring
	 * Boot 3).
	 */
	static final String OLDER = "getMongoClient";

	/**
	 * The method by which the driver's own client exposes its settings, although not in
	 * its interface.
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
	 * Return the settings with which a client was created, as far as it exposes them.
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
