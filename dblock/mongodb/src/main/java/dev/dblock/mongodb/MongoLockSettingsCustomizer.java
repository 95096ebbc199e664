package dev.dblock.mongodb;

/**
 * Customizes the settings of locks in MongoDB beyond the properties, for example with
 * another collection in one of several databases. Beans of this type are detected and
 * called in their order, after the properties were applied.
 */
@FunctionalInterface
public interface MongoLockSettingsCustomizer {

	/**
	 * Customize the settings for one database.
	 * @param databaseFactory the name of the {@code MongoDatabaseFactory} bean
	 * @param settings the settings according to {@code dblock.*} and earlier customizers
	 * @return the settings, or a copy with changes
	 */
	MongoLockSettings customize(String databaseFactory, MongoLockSettings settings);

}
