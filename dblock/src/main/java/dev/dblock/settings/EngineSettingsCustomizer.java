package dev.dblock.settings;

/**
 * Has the last word on the settings of an engine, for what properties cannot say: a name
 * for this instance that is found out when it starts, for example. Beans of this type are
 * found and called in their order, once for each engine.
 */
@FunctionalInterface
public interface EngineSettingsCustomizer {

	/**
	 * Change the settings.
	 * @param settings the settings as {@code dblock.*} and earlier customizers have them
	 * @return the settings, or a copy with changes
	 */
	EngineSettings customize(EngineSettings settings);

}
