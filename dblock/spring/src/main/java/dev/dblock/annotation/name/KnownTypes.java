package dev.dblock.annotation.name;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.TypeVariable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OperatorInstanceof;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * Checks the properties, methods, classes and beans in an expression, as far as they can
 * be checked without a call. The type of a value is known if it is declared as a class
 * that is not abstract. The value of an interface, an abstract class, {@code Object} or a
 * type variable can have more properties than its declared type. An expression with
 * {@code instanceof} expects subclasses, so no types are known in it.
 */
final class KnownTypes {

	/**
	 * SpEL finds the value of an {@link Optional} instead of its properties, and static
	 * members by a {@link Class}.
	 */
	private static final Set<Class<?>> UNKNOWN = Set.of(Object.class, Optional.class, Class.class, void.class);

	private static final Accessor ACCESSOR = new Accessor();

	private final LockedMethod method;

	private final Predicate<String> beans;

	private final Consumer<String> problems;

	private final Map<String, Class<?>> variables = new HashMap<>();

	private boolean typed;

	/**
	 * Create a check.
	 * @param method the method of the expression
	 * @param beans whether there is a bean with a name
	 * @param problems receives each problem, as a part of a sentence
	 */
	KnownTypes(LockedMethod method, Predicate<String> beans, Consumer<String> problems) {
		this.method = method;
		this.beans = beans;
		this.problems = problems;
		this.variables.put("#root", LockNameRoot.class);
	}

	/**
	 * Define a variable.
	 * @param name its name, with {@code #}
	 * @param parameter the index of the parameter
	 */
	void define(String name, int parameter) {
		Class<?> type = known(
				ResolvableType.forMethodParameter(this.method.method(), parameter, this.method.userClass()));
		if (type != null) {
			this.variables.put(name, type);
		}
	}

	void check(SpelNode expression) {
		this.typed = !contains(expression, OperatorInstanceof.class);
		visit(expression, null);
	}

	private static boolean contains(SpelNode node, Class<? extends SpelNode> kind) {
		for (int i = 0; i < node.getChildCount(); i++) {
			if (contains(node.getChild(i), kind)) {
				return true;
			}
		}
		return kind.isInstance(node);
	}

	/**
	 * Visit a node.
	 * @param of the type whose properties and methods are meant; {@code null} if unknown
	 * @return the type of the value, or {@code null} if unknown
	 */
	private @Nullable Class<?> visit(SpelNode node, @Nullable Class<?> of) {
		if (node instanceof CompoundExpression) {
			Class<?> type = of;
			for (int i = 0; i < node.getChildCount(); i++) {
				type = visit(node.getChild(i), type);
			}
			return type;
		}
		if (node instanceof TypeReference) {
			checkClass(node.getChild(0).toStringAST());
			return null;
		}
		if (node instanceof BeanReference) {
			checkBean(node.toStringAST());
			return null;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			visit(node.getChild(i), null);
		}
		if (node instanceof VariableReference) {
			return this.typed ? this.variables.get(node.toStringAST()) : null;
		}
		if (of != null && node instanceof PropertyOrFieldReference property) {
			return property(of, property.getName());
		}
		return (of != null && node instanceof MethodReference call) ? call(of, call.getName()) : null;
	}

	private @Nullable Class<?> property(Class<?> of, String name) {
		Method getter = ACCESSOR.findGetterForProperty(name, of, false);
		if (getter != null) {
			return known(ResolvableType.forMethodReturnType(getter, of));
		}
		Field field = ACCESSOR.findField(name, of, false);
		if (field != null) {
			return known(ResolvableType.forField(field, of));
		}
		// Properties of the root are checked with the variables
		if (of != LockNameRoot.class) {
			this.problems.accept("there is no property '%s' of %s".formatted(name, of.getName()));
		}
		return null;
	}

	private @Nullable Class<?> call(Class<?> of, String name) {
		List<Method> candidates = Arrays.stream(of.getMethods())
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge())
			.toList();
		if (candidates.isEmpty()) {
			this.problems.accept("there is no method '%s' of %s".formatted(name, of.getName()));
		}
		return (candidates.size() == 1) ? known(ResolvableType.forMethodReturnType(candidates.get(0), of)) : null;
	}

	private static @Nullable Class<?> known(ResolvableType declared) {
		Class<?> type = (declared.getType() instanceof TypeVariable<?>) ? null : declared.resolve();
		if (type == null || UNKNOWN.contains(type) || type.isArray()) {
			return null;
		}
		Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(type);
		return Modifier.isAbstract(boxed.getModifiers()) ? null : boxed;
	}

	private void checkClass(String name) {
		if (isFound(name, new StandardTypeLocator())
				|| isFound(name, new StandardTypeLocator(this.method.userClass().getClassLoader()))) {
			return;
		}
		this.problems
			.accept(("there is no class %s; write its full name, or only its simple name if it is in" + " java.lang")
				.formatted(name));
	}

	private static boolean isFound(String name, TypeLocator locator) {
		try {
			return ClassUtils.resolvePrimitiveClassName(name.toLowerCase(Locale.ROOT)) != null
					|| locator.findType(name) != null;
		}
		catch (EvaluationException ex) {
			return false;
		}
	}

	private void checkBean(String reference) {
		String name = reference.startsWith("@") ? reference.substring(1).replace("'", "") : reference;
		if (!this.beans.test(name)) {
			this.problems.accept("there is no bean '%s'".formatted(name));
		}
	}

	/**
	 * Finds the members that SpEL reads.
	 */
	private static final class Accessor extends ReflectivePropertyAccessor {

		@Override
		protected @Nullable Method findGetterForProperty(String name, Class<?> type, boolean mustBeStatic) {
			return super.findGetterForProperty(name, type, mustBeStatic);
		}

		@Override
		protected @Nullable Field findField(String name, Class<?> type, boolean mustBeStatic) {
			return super.findField(name, type, mustBeStatic);
		}

	}

}
