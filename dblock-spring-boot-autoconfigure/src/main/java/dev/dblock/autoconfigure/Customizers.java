package dev.dblock.autoconfigure;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Customizers of one type that an application declares, in their order.
 *
 * @param <C> the type
 * @param type the type
 * @param customizers the customizers
 * @param beans the factory of the customizers
 */
record Customizers<C>(Class<C> type, List<C> customizers, ListableBeanFactory beans) {

	static <C> Customizers<C> of(Class<C> type, ObjectProvider<C> provider, ListableBeanFactory beans) {
		return new Customizers<>(type, provider.orderedStream().toList(), beans);
	}

	/**
	 * Apply each customizer to settings.
	 * @param settings the settings
	 * @param call calls a customizer
	 * @param check validates the settings after each customizer
	 * @throws InvalidSetupException with the name of the first customizer that fails, or
	 * that returns {@code null} or invalid settings
	 */
	<S> S apply(S settings, BiFunction<C, S, S> call, Consumer<S> check) {
		S customized = settings;
		for (C customizer : this.customizers) {
			customized = apply(customizer, customized, call, check);
		}
		return customized;
	}

	// NullAway assumes that a customizer does not return null
	@SuppressWarnings({ "ConstantValue", "NullAway" })
	private <S> S apply(C customizer, S settings, BiFunction<C, S, S> call, Consumer<S> check) {
		S customized;
		try {
			customized = call.apply(customizer, settings);
		}
		catch (RuntimeException ex) {
			throw failure(customizer, " failed: " + ex, ex);
		}
		if (customized == null) {
			throw failure(customizer, " returned null instead of settings", null);
		}
		try {
			check.accept(customized);
		}
		catch (RuntimeException ex) {
			throw failure(customizer, " returned invalid settings: " + reason(ex), ex);
		}
		return customized;
	}

	// The exception of a check may have no message
	private static String reason(RuntimeException ex) {
		return (ex.getMessage() != null) ? ex.getMessage() : ex.toString();
	}

	private InvalidSetupException failure(C customizer, String failure, @Nullable RuntimeException cause) {
		return new InvalidSetupException(BeanNames.describe(this.type, customizer, this.beans) + failure,
				"Fix that bean. It is called after the dblock.* properties are read, and the settings that it returns"
						+ " are used unchanged: return the same settings or a changed copy",
				cause);
	}

}
