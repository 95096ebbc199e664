package dev.dblock.annotation.name;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.NullLiteral;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * Checks the expressions of a name or a condition for references that the method cannot
 * provide. SpEL itself evaluates an unknown variable to {@code null} in each call.
 */
final class LockNameReferences {

	private static final Set<String> ALWAYS = Set.of("#root", "#this");

	private static final Pattern VARIABLE = Pattern
		.compile("#\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*");

	/** Such as a0 and p0. */
	private static final int NAMES_WITHOUT_DISCOVERY = 2;

	private final LockedMethod method;

	private final Set<String> known = new TreeSet<>(ALWAYS);

	private final List<String> problems = new ArrayList<>();

	private final KnownTypes types;

	private final boolean named;

	/**
	 * Create a check.
	 * @param method the method
	 * @param parameters the names of its parameters, with their indexes
	 * @param beans whether there is a bean with a name
	 */
	LockNameReferences(LockedMethod method, Map<String, Integer> parameters, Predicate<String> beans) {
		this.method = method;
		this.types = new KnownTypes(method, beans, this.problems::add);
		this.named = parameters.size() > NAMES_WITHOUT_DISCOVERY * LockedMethod.parameterCount(method.method());
		parameters.forEach((name, index) -> {
			this.known.add("#" + name);
			this.types.define("#" + name, index);
		});
	}

	List<String> problems() {
		return this.problems;
	}

	void visit(SpelExpression expression) {
		visitSums(expression.getAST(), true);
		visitCondition(expression);
	}

	/**
	 * Visit literal text. A parameter reference outside of an expression is reported: in
	 * other annotations the whole key is an expression, but here the text would be one
	 * lock for all calls.
	 */
	void visitText(String text) {
		VARIABLE.matcher(text)
			.results()
			.map(MatchResult::group)
			.distinct()
			.filter(this.known::contains)
			.forEach((variable) -> this.problems.add(("%1$s is outside #{…} and is only text there, the same for all"
					+ " calls; write #{%1$s}, or #{'%1$s'} if you mean that text")
				.formatted(variable)));
	}

	/**
	 * Visit an expression that does not result in text.
	 */
	void visitCondition(SpelExpression expression) {
		visit(expression.getAST(), true);
		this.types.check(expression.getAST());
	}

	/**
	 * Report each {@code +} that SpEL evaluates by itself, which renders {@code null} as
	 * the text "null".
	 * @param watched whether the operands are checked in each call
	 */
	private void visitSums(SpelNode node, boolean watched) {
		boolean sum = LockNamePart.isSum(node);
		if (sum && !watched && !isNumber(node.getChild(0)) && !isNumber(node.getChild(1))) {
			this.problems.add(("%s inside an expression could join text with null; write the parts one after the"
					+ " other, as in order-#{#id}")
				.formatted(node.toStringAST()));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			visitSums(node.getChild(i), watched && sum);
		}
	}

	private static boolean isNumber(SpelNode node) {
		return node instanceof Literal && !(node instanceof StringLiteral || node instanceof NullLiteral);
	}

	/**
	 * Visit a node.
	 * @param ofRoot whether a property without a qualifier is certain to be a property of
	 * the root
	 */
	private void visit(SpelNode node, boolean ofRoot) {
		if (node instanceof VariableReference) {
			visitVariable(node.toStringAST());
		}
		else if (node instanceof FunctionReference) {
			this.problems.add("there are no functions such as " + node.toStringAST());
		}
		else if (ofRoot && node instanceof PropertyOrFieldReference property) {
			visitRootProperty(property.getName());
		}
		boolean childrenOfRoot = ofRoot && !(node instanceof Selection || node instanceof Projection
				|| node instanceof Indexer || node instanceof InlineMap);
		for (int i = 0; i < node.getChildCount(); i++) {
			boolean first = i == 0 || !(node instanceof CompoundExpression);
			visit(node.getChild(i), first ? childrenOfRoot : "#root".equals(node.getChild(i - 1).toStringAST()));
		}
	}

	private void visitRootProperty(String name) {
		if (LockNameRoot.PROPERTIES.contains(name)) {
			return;
		}
		String variable = "#" + name;
		if (ALWAYS.contains(variable)) {
			this.problems.add("there is no property '%s' of #root; write %s".formatted(name, variable));
		}
		else if (this.known.contains(variable)) {
			this.problems
				.add("there is no property '%s' of #root, but a parameter: write %s".formatted(name, variable));
		}
		else {
			this.problems.add("there is no property '%s' of #root, only %s".formatted(name,
					new TreeSet<>(LockNameRoot.PROPERTIES)));
		}
	}

	private void visitVariable(String variable) {
		if (this.known.contains(variable)) {
			return;
		}
		if (LockedMethod.parameterCount(this.method.method()) == 0) {
			this.problems.add("there is no %s, because the method has no parameters".formatted(variable));
		}
		else if (!this.named) {
			this.problems.add(("there is no %s, because the class was compiled without the names of its parameters;"
					+ " compile it with -parameters, or write #a0 for the first")
				.formatted(variable));
		}
		else {
			this.problems.add("there is no %s, only %s".formatted(variable,
					this.known.stream().filter((name) -> !ALWAYS.contains(name)).collect(Collectors.joining(", "))));
		}
	}

}
