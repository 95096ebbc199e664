package dev.dblock.autoconfigure;

import java.util.function.Function;

import dev.dblock.mongodb.client.DedicatedDatabaseFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * The client that serves locks alone, if one is wanted. A bean, so that it is closed in
 * its turn, but not one of the types that an application asks for: it must not be taken
 * for the application's own.
 */
final class DedicatedClient implements DisposableBean {

	static final String PROPERTY = "dblock.mongodb.dedicated-client";

	private final Function<MongoDatabaseFactory, DedicatedDatabaseFactory> maker;

	private @Nullable DedicatedDatabaseFactory factory;

	DedicatedClient(Function<MongoDatabaseFactory, DedicatedDatabaseFactory> maker) {
		this.maker = maker;
	}

	/**
	 * Reach the database of the application's factory by a client of its own.
	 * @throws InvalidConfigurationPropertyValueException when the settings that are known
	 * are not those of the application's client
	 */
	MongoDatabaseFactory beside(MongoDatabaseFactory application) {
		try {
			DedicatedDatabaseFactory made = this.maker.apply(application);
			this.factory = made;
			return made;
		}
		catch (IllegalArgumentException ex) {
			throw refusal(ex.getMessage());
		}
	}

	// Before Spring Boot 4.1 an exception with a cause cannot be made from here
	private static InvalidConfigurationPropertyValueException refusal(@Nullable String reason) {
		return new InvalidConfigurationPropertyValueException(PROPERTY, true,
				("A client for the locks alone is made from the settings of Spring Boot's MongoDB auto-configuration, but %s. "
						+ "Leave the making of the client to Spring Boot (with the properties of its client, a MongoClientSettings "
						+ "bean or MongoClientSettingsBuilderCustomizer beans), define a LockRepository bean over a client of "
						+ "your own, or set the property to false")
					.formatted(reason));
	}

	@Override
	public void destroy() {
		if (this.factory != null) {
			this.factory.close();
		}
	}

}
