package dev.dblock.settings;

import dev.dblock.LockOptions;
import dev.dblock.WhenUnavailable;
import org.jspecify.annotations.Nullable;

/**
 * What is set for the locks of one name or pattern.
 *
 * @param options what comes before the options that the code gives; what is left out
 * there stays as the code has it
 * @param whenUnavailable what comes before what an annotation says; {@code null} leaves
 * it to the annotation
 */
public record LockSetting(LockOptions options, @Nullable WhenUnavailable whenUnavailable) {

	static final LockSetting NOTHING = new LockSetting(LockOptions.defaults(), null);

	LockSetting orElse(LockSetting other) {
		return new LockSetting(this.options.orElse(other.options),
				(this.whenUnavailable != null) ? this.whenUnavailable : other.whenUnavailable);
	}

}
