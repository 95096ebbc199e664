package dev.dblock.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches unless a property is false, in any of the ways in which it can be written where
 * properties are bound, such as {@code off} or {@code 0}. Spring Boot's own conditions
 * know only the word itself.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Conditional(ConditionalOnSwitch.OnSwitchCondition.class)
@interface ConditionalOnSwitch {

	/**
	 * The name of the property.
	 */
	String value();

	/**
	 * The condition.
	 */
	final class OnSwitchCondition extends SpringBootCondition {

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			String property = metadata.getAnnotations().get(ConditionalOnSwitch.class).getString("value");
			boolean on = isOn(context, property);
			return new ConditionOutcome(on, ConditionMessage.forCondition(ConditionalOnSwitch.class)
				.because(property + (on ? " is not false" : " is false")));
		}

		private static boolean isOn(ConditionContext context, String property) {
			try {
				return context.getEnvironment().getProperty(property, Boolean.class, true);
			}
			catch (ConversionException ex) {
				// The properties refuse the value, with a better message
				return true;
			}
		}

	}

}
