package dev.dblock.autoconfigure;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * The customizers of one kind that an application has, in their order.
 *
 * @param <C> the kind
 * @param type the kind
 * @param customizers the customizers
 * @param beans where they come from
 */
record Customizers<C>(Class<C> type, List<C> customizers, ListableBeanFactory beans) {

	static <C> Customizers<C> of(Class<C> type, ObjectProvider<C> provider, ListableBeanFactory beans) {
		return new Customizers<>(type, provider.orderedStream().toList(), beans);
	}

	/**
	 * Have each of them change settings.
	 * @param settings the settings
	 * @param call how one is called
	 * @param check what the settings have to stand after each
	 * @throws InvalidCustomizationException with the name of the first that fails, or
	 * leaves no settings or some that cannot be
	 */
	<S> S apply(S settings, BiFunction<C, S, S> call, Consumer<S> check) {
		S customized = settings;
		for (C customizer : this.customizers) {
			customized = apply(customizer, customized, call, check);
		}
		return customized;
	}

	// NullAway takes the application's word for it
	@SuppressWarnings({ "ConstantValue", "NullAway" })
	private <S> S apply(C customizer, S settings, BiFunction<C, S, S> call, Consumer<S> check) {
		S customized;
		try {
			customized = call.apply(customizer, settings);
		}
		catch (RuntimeException ex) {
			throw new InvalidCustomizationException("%s failed: %s".formatted(name(customizer), ex), ex);
		}
		if (customized == null) {
			throw new InvalidCustomizationException(
					"%s gave null where settings are expected".formatted(name(customizer)), null);
		}
		try {
			check.accept(customized);
		}
		catch (RuntimeException ex) {
			throw new InvalidCustomizationException(
					"%s leaves settings that cannot be: %s".formatted(name(customizer), reason(ex)), ex);
		}
		return customized;
	}

	// Who checks need not have said a word
	private static String reason(RuntimeException ex) {
		return (ex.getMessage() != null) ? ex.getMessage() : ex.toString();
	}

	private String name(C customizer) {
		return BeanNames.describe(this.type, customizer, this.beans);
	}

}
