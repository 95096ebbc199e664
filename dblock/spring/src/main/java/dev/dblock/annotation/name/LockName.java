package dev.dblock.annotation.name;

import dev.dblock.settings.LockSettings;
import org.jspecify.annotations.Nullable;

/**
 * The name of a method's lock, as far as it is known before the call.
 */
public interface LockName {

	/**
	 * Return the name for one call. The values of the arguments are never evaluated as
	 * expressions.
	 * @throws IllegalArgumentException if the call does not result in a name, with the
	 * reason
	 */
	String of(@Nullable Object target, @Nullable Object[] arguments);

	/**
	 * Return the declared name with its placeholders resolved. It is the same for all
	 * calls.
	 */
	String template();

	/**
	 * Return the declared name with {@link LockSettings#ANYTHING} in place of each part
	 * that depends on the call.
	 */
	String shape();

	/**
	 * Return an example of a name, with an ellipsis in place of each part that depends on
	 * the call.
	 */
	default String sample() {
		return shape().replace(LockSettings.ANYTHING, '…');
	}

	/**
	 * Return whether the text of a whole argument is a part of the name.
	 * @param parameter the index of its parameter
	 */
	default boolean contains(int parameter) {
		return false;
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
