package dev.dblock.job.schedule;

import java.util.function.Supplier;

/**
 * A locked method of a bean that a scheduler can call.
 *
 * @param bean the name of the bean
 * @param type the user class of the bean
 * @param name the name of the method, which has no parameters
 * @param declaration what is declared on it, once the application has started
 */
public record JobMethod(String bean, Class<?> type, String name, Supplier<JobDeclaration> declaration) {

	/**
	 * Where the method is, for messages.
	 */
	String place() {
		return "bean '%s', %s#%s()".formatted(this.bean, this.type.getName(), this.name);
	}

}
