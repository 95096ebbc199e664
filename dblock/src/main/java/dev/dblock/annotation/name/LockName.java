package dev.dblock.annotation.name;

import dev.dblock.settings.LockSettings;
import org.jspecify.annotations.Nullable;

/**
 * The name of a method's lock, as far as it can be known before the call.
 */
public interface LockName {

	/**
	 * The name for one call. What the arguments contain is never evaluated.
	 * @throws IllegalArgumentException when the call gives no name, with the reason
	 */
	String of(@Nullable Object target, @Nullable Object[] arguments);

	/**
	 * The name as it is declared, with its placeholders resolved: the same for all calls.
	 */
	String template();

	/**
	 * The name as it is declared, with {@link LockSettings#ANYTHING} for each part that
	 * only a call can tell.
	 */
	String shape();

	/**
	 * A name that a call could give, as far as that is known.
	 */
	default String sample() {
		return shape().replace(LockSettings.ANYTHING, '…');
	}

	/**
	 * A name that is the same for all calls.
	 */
	record Constant(String text) implements LockName {

		@Override
		public String of(@Nullable Object target, @Nullable Object[] arguments) {
			return this.text;
		}

		@Override
		public String template() {
			return this.text;
		}

		@Override
		public String shape() {
			return this.text;
		}

	}

}
