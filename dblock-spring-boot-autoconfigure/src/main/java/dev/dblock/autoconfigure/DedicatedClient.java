package dev.dblock.autoconfigure;

import java.util.function.Function;

import dev.dblock.mongodb.client.DedicatedDatabaseFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Client that serves only locks, if one is configured. It is a bean, so that it is closed
 * in the right order. It has none of the types that an application injects, so that it is
 * not mistaken for the application's own client.
 */
final class DedicatedClient implements DisposableBean {

	static final String PROPERTY = "dblock.mongodb.dedicated-client";

	private final Function<MongoDatabaseFactory, DedicatedDatabaseFactory> maker;

	private @Nullable DedicatedDatabaseFactory factory;

	DedicatedClient(Function<MongoDatabaseFactory, DedicatedDatabaseFactory> maker) {
		this.maker = maker;
	}

	/**
	 * Create a factory for the database of the application's factory, with a separate
	 * client.
	 * @throws InvalidConfigurationPropertyValueException if the known settings are not
	 * those of the application's client
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

	// Before Spring Boot 4.1 this exception cannot be created with a cause from here
	private static InvalidConfigurationPropertyValueException refusal(@Nullable String reason) {
		return new InvalidConfigurationPropertyValueException(PROPERTY, true,
				("The dedicated client for the locks is created from the settings of Spring Boot's MongoDB"
						+ " auto-configuration, but %s. Let Spring Boot create the client (with its client properties,"
						+ " a MongoClientSettings bean or MongoClientSettingsBuilderCustomizer beans), define a"
						+ " LockRepository bean with a client of your own, or set the property to false")
					.formatted(reason));
	}

	@Override
	public void destroy() {
		if (this.factory != null) {
			this.factory.close();
		}
	}

}
