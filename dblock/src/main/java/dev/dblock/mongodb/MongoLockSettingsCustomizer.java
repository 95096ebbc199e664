package dev.dblock.mongodb;

/**
 * Has the last word on how locks are kept in MongoDB, for what properties cannot say:
 * another collection in one of several databases, for example. Beans of this type are
 * found and called in their order.
 */
@FunctionalInterface
public interface MongoLockSettingsCustomizer {

	/**
	 * Change the settings for one database.
	 * @param databaseFactory the name of the {@code MongoDatabaseFactory} bean
	 * @param settings the settings as {@code dblock.*} and earlier customizers have them
	 * @return the settings, or a copy with changes
	 */
	MongoLockSettings customize(String databaseFactory, MongoLockSettings settings);

}
