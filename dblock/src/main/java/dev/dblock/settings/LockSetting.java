package dev.dblock.settings;

import dev.dblock.LockOptions;
import dev.dblock.WhenUnavailable;
import org.jspecify.annotations.Nullable;

/**
 * The settings for the locks of one name or pattern.
 *
 * @param options options that take precedence over those in the code; those that are not
 * set default to the code
 * @param whenUnavailable behavior that takes precedence over that of an annotation;
 * {@code null} if the annotation applies
 */
public record LockSetting(LockOptions options, @Nullable WhenUnavailable whenUnavailable) {

	/** No settings. */
	public static final LockSetting NOTHING = new LockSetting(LockOptions.defaults(), null);

	LockSetting orElse(LockSetting other) {
		return new LockSetting(this.options.orElse(other.options),
				(this.whenUnavailable != null) ? this.whenUnavailable : other.whenUnavailable);
	}

}
