package dev.dblock.settings;

/**
 * Callback that can change the settings of an engine after all properties, for values
 * that properties cannot express: for example a name for this instance that is determined
 * at startup. Beans of this type are detected and called in their order, once for each
 * engine.
 */
@FunctionalInterface
public interface EngineSettingsCustomizer {

	/**
	 * Change the settings.
	 * @param settings the settings from {@code dblock.*} and earlier customizers
	 * @return the settings, or a copy with changes
	 */
	EngineSettings customize(EngineSettings settings);

}
