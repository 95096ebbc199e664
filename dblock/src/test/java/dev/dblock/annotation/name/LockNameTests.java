package dev.dblock.annotation.name;

import java.io.File;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InMemoryCompiler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.i18n.LocaleContextHolder;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.util.StringValueResolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockNameTests {

	private final MockEnvironment environment = new MockEnvironment().withProperty("region", "north")
		.withProperty("blank", " ")
		.withProperty("field", "id")
		.withProperty("hash", "#order");

	private final DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private final LockNameParser parser = parser(this.environment::resolveRequiredPlaceholders);

	private final Orders target = new Orders();

	@Test
	void leftOutIsClassAndMethod() {
		assertThat(parse("settle", "")).isEqualTo(new LockName.Constant(Orders.class.getName() + "#settle"));
	}

	@Test
	void textIsConstant() {
		assertThat(parse("settle", "nightly-invoices")).isEqualTo(new LockName.Constant("nightly-invoices"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "$$ROOT", "$where", "a.b", "$$NOW", "it's \"quoted\"", "\uD83D\uDD12", "#orders",
			"# order", "{}", "a}b", "T(java.lang.Runtime)", "Orders#settle", "issue-#7" })
	void oddTextIsText(String text) {
		assertThat(parse("settle", text)).isEqualTo(new LockName.Constant(text));
	}

	@Test
	void placeholdersAreResolved() {
		assertThat(parse("settle", "stock-${region}-${none:x}")).isEqualTo(new LockName.Constant("stock-north-x"));
		assertThat(name("settle", "order-#{#order.${field}}", new Order("7"))).isEqualTo("order-7");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', commentCharacter = '~', textBlock = """
			order-#{#order.id} | order-7
			order-#{#a0.id} | order-7
			order-#{#p0.id} | order-7
			#{#order.id} | 7
			#{#order.id}-#{#order.id} | 7-7
			#{methodName} | settle
			#{#root.methodName} | settle
			#{#root.method.name} | settle
			#{target.region()} | north
			#{#root.targetClass.simpleName} | Orders
			#{args[0].id} | 7
			#{#root.args.length} | 1
			#{'a' + #order?.id} | a7
			#{#order.id == '7' ? 1 : 2} | 1
			#{{'x','y'}.?[#this == 'y'][0]} | y
			#{{'x','y'}.![toUpperCase()][0]} | X
			#{{id: 5}['id']} | 5
			#{T(java.util.Locale).ENGLISH.language + 'r'} | enr
			#{@zone} | west
			#{getClass().simpleName} | LockNameRoot
			""")
	void expressionsSeeArgumentsRootAndBeans(String template, String expected) {
		this.beanFactory.registerSingleton("zone", "west");
		assertThat(name("settle", template, new Order("7"))).isEqualTo(expected);
	}

	@Test
	void typesDoNotDependOnTheThreadOfTheFirstName() {
		Thread thread = Thread.currentThread();
		ClassLoader loader = thread.getContextClassLoader();
		thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
		try {
			assertThat(name("any", "#{#value}", 1)).isEqualTo("1");
			assertThat(name("any", "#{T(dev.dblock.WhenLost).NOTIFY}", 1)).isEqualTo("NOTIFY");
		}
		finally {
			thread.setContextClassLoader(loader);
		}
	}

	@Test
	void overloadedParametersAreThoseOfTheMethod() {
		assertThat(name("count", "#{#left + #right}", 3, 4L)).isEqualTo("7");
	}

	@Test
	void valuesBecomeTextTheSameWayEverywhere() {
		UUID id = UUID.randomUUID();
		assertThat(name("any", "#{#value}", id)).isEqualTo(id.toString());
		assertThat(name("any", "#{#value}", 1_000_000L)).isEqualTo("1000000");
		assertThat(name("any", "#{#value}", new BigDecimal("1.50"))).isEqualTo("1.50");
		assertThat(name("any", "#{#value}", TimeUnit.DAYS)).isEqualTo("DAYS");
		assertThat(name("any", "#{#value}", 'c')).isEqualTo("c");
		assertThat(name("any", "#{#value}", List.of(1, 2))).isEqualTo("1,2");
		assertThat(name("any", "#{#value}", Optional.of("there"))).isEqualTo("there");
	}

	@ParameterizedTest
	@ValueSource(strings = { "en-US", "de-DE", "ar-EG" })
	void datesDoNotDependOnTheLanguageOfTheThread(String language) {
		LocaleContextHolder.setLocale(Locale.forLanguageTag(language));
		try {
			assertThat(name("any", "#{#value}", LocalDate.of(2026, 2, 1))).isEqualTo("2026-02-01");
			assertThat(name("any", "#{#value}", Duration.ofMinutes(5))).isEqualTo("PT5M");
		}
		finally {
			LocaleContextHolder.resetLocaleContext();
		}
	}

	@Test
	void objectWithoutATextOfItsOwnIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{#value}", new Object()))
			.withMessageStartingWith("The lock of " + Orders.class.getName()
					+ "#any(Object) has no name, so the method was not called: #{#value} in the name '#{#value}'"
					+ " cannot be evaluated: ")
			.withMessageContaining("java.lang.Object");
	}

	@Test
	void objectThatCouldBeMadeOfTextAndHasNoneIsRefused() {
		for (String template : List.of("#{#value}", "#{'order-' + #value}")) {
			assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, new OrderId("7")))
				.withMessageContaining(
						"cannot be evaluated: a " + OrderId.class.getName() + " has no toString() of its own")
				.withMessageContaining("use one of its properties");
			assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, List.of(new OrderId("7"))))
				.withMessageContaining("has no toString() of its own");
		}
		assertThat(name("any", "#{#value.text}", new OrderId("7"))).isEqualTo("7");
	}

	@Test
	void objectThatIsNotMadeIntoTextIsRefusedWithWhatToWrite() {
		Object map = new LinkedHashMap<>(Map.of("a", 1));
		for (Object value : new Object[] { new Sku("7"), Path.of("a"), map, OptionalInt.of(1) }) {
			for (String template : List.of("#{#value}", "#{'x-' + #value}")) {
				assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, value))
					.withMessageContaining("in the name '" + template + "' cannot be evaluated: a "
							+ value.getClass().getName() + " is not converted to text, because its toString() may"
							+ " differ from instance to instance; use one of its properties, or call its toString() in"
							+ " the expression if it returns the same text everywhere");
			}
		}
		assertThat(name("any", "#{#value.toString()}", new Sku("7"))).isEqualTo("sku 7");
		assertThat(name("any", "#{'x-' + #value.toString()}", Path.of("a"))).isEqualTo("x-a");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{#value}", new Object()))
			.withMessageContaining("a java.lang.Object has no toString() of its own");
	}

	@Test
	void objectThatCouldBeMadeOfTextBecomesIt() {
		assertThat(name("any", "#{#value}", new Order("7"))).isEqualTo("Order[id=7]");
		assertThat(name("any", "#{#value}", new File("a"))).isEqualTo("a");
	}

	@Test
	void setsAreTheSameInWhateverOrder() {
		assertThat(name("any", "#{#value}", new LinkedHashSet<>(List.of("b", "a", "c")))).isEqualTo("a,b,c");
		assertThat(name("any", "#{'x-' + #value}", new LinkedHashSet<>(List.of(10, 9)))).isEqualTo("x-10,9");
		Map<String, String> values = new LinkedHashMap<>(Map.of("1", "z"));
		values.put("2", "y");
		assertThat(name("any", "#{#value.values()}", values)).isEqualTo("y,z");
		assertThat(name("any", "#{#value}", List.of("b", "a"))).isEqualTo("b,a");
		assertThat(name("any", "#{#value}", new ArrayDeque<>(List.of("b", "a")))).isEqualTo("b,a");
	}

	@Test
	void datesDoNotDependOnTheTimeZoneOfTheProcess() {
		Date date = new Date(0);
		assertThat(name("any", "#{#value}", date)).isEqualTo("1970-01-01T00:00:00Z");
		assertThat(name("any", "#{#value}", new Timestamp(0))).isEqualTo("1970-01-01T00:00:00Z");
		assertThat(name("any", "#{#value}", java.sql.Date.valueOf("2026-02-01"))).isEqualTo("2026-02-01");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#{#value}", "x#{#a0}", "#{#value}y", "#{args[0]}" })
	void contentOfArgumentsIsNeverEvaluated(String template) {
		for (String text : List.of("#{T(java.lang.System).exit(1)}", "${region}", "$$ROOT", "#value", "}#{1+1}")) {
			assertThat(name("any", template, text)).isEqualTo(template.replaceAll("#\\{.*}", "§").replace("§", text));
		}
	}

	@Test
	void partThatIsNullIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> name("settle", "order-#{#order.id}", new Order(null)))
			.withMessage("The lock of " + Orders.class.getName()
					+ "#settle(Order) has no name, so the method was not called: #{#order.id} in the name"
					+ " 'order-#{#order.id}' is null; otherwise unrelated calls would share one lock. Pass a value, or"
					+ " set a default: #{… ?: 'none'}");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{#value}", Optional.empty()))
			.withMessageContaining("is null");
	}

	@Test
	void partThatIsEmptyIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> name("settle", "order-#{#order.id}", new Order("")))
			.withMessageContaining("#{#order.id} in the name 'order-#{#order.id}' is empty; otherwise");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{#value}", List.of()))
			.withMessageContaining("is empty");
	}

	@ParameterizedTest
	@ValueSource(strings = { "#{'order-' + #value}", "#{#value + '-order'}", "#{'a' + ('b' + #value)}",
			"#{'order-' + #value + '-x'}", "#{methodName + #value}" })
	void operandThatIsMissingIsRefused(String template) {
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, (Object) null))
			.withMessageContaining("in the name '" + template + "' joins text with #value, which is null; otherwise");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, ""))
			.withMessageContaining("joins text with #value, which is empty; otherwise");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, Optional.empty()))
			.withMessageContaining("joins text with #value, which is null; otherwise");
	}

	@Test
	void operandsBecomeTextAsPartsDo() {
		assertThat(name("any", "#{'on-' + #value}", LocalDate.of(2026, 2, 1))).isEqualTo("on-2026-02-01");
		assertThat(name("any", "#{1 + 2 + 'a' + #value}", 7)).isEqualTo("3a7");
		assertThat(name("any", "#{+#value + 1}", 7)).isEqualTo("8");
		assertThat(name("any", "#{'a' + (#value ?: 'none')}", (Object) null)).isEqualTo("anone");
		assertThat(name("any", "#{args[0 + 0]}", "x")).isEqualTo("x");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{'a' + #value}", new Object()))
			.withMessageContaining("cannot be evaluated");
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{#value + 1}", (Object) null))
			.withMessageContaining("cannot be evaluated");
	}

	@Test
	void operandsAreEvaluatedOnce() {
		AtomicInteger counter = new AtomicInteger();
		assertThat(name("any", "#{#value.incrementAndGet() + #value.incrementAndGet()}", counter)).isEqualTo("3");
		assertThat(counter).hasValue(2);
	}

	@Test
	void elementThatIsMissingIsRefused() {
		for (Object value : new Object[] { Arrays.asList("a", null), new String[] { "a", null },
				List.of("a", Optional.empty()), List.of("a", Arrays.asList("b", null)) }) {
			assertThatIllegalArgumentException().isThrownBy(() -> name("any", "list-#{#value}", value))
				.withMessageContaining("#{#value} in the name 'list-#{#value}' has an element that ")
				.withMessageContaining("is null; otherwise");
			assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{'list-' + #value}", value))
				.withMessageContaining("joins text with #value, which has an element that ");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> name("any", "#{#value}", List.of("", "")))
			.withMessageContaining("has an element that is empty");
		assertThat(name("any", "#{#value}", (Object) new Object[] { "a", 1, List.of("b", "c") })).isEqualTo("a,1,b,c");
		assertThat(name("any", "#{#value}", new int[] { 1, 2 })).isEqualTo("1,2");
	}

	@Test
	void failureOfAnExpressionNamesMethodAndExpression() {
		assertThatIllegalArgumentException().isThrownBy(() -> name("settle", "order-#{#order.id}", (Object) null))
			.withMessageStartingWith("The lock of " + Orders.class.getName()
					+ "#settle(Order) has no name, so the method was not called: #{#order.id} in the name"
					+ " 'order-#{#order.id}' cannot be evaluated: EL1007E");
	}

	@Test
	void exceptionThatAnExpressionThrowsNamesMethodAndExpression() {
		for (String template : List.of("#{#value.fail()}", "#{'x-' + #value}")) {
			assertThatIllegalArgumentException().isThrownBy(() -> name("any", template, new Failing()))
				.withMessageStartingWith("The lock of " + Orders.class.getName()
						+ "#any(Object) has no name, so the method was not called: #{")
				.withMessageEndingWith("in the name '" + template + "' cannot be evaluated: it failed with"
						+ " java.lang.UnsupportedOperationException: scripted")
				.withCauseExactlyInstanceOf(UnsupportedOperationException.class);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', commentCharacter = '~',
			textBlock = """
					#{#order.id     | has an expression that cannot be parsed: .*No ending suffix.*
					#{}             | has an expression that cannot be parsed: .*No expression defined.*
					#{#order.}      | has an expression that cannot be parsed: .*
					#{#order.id)}   | has an expression that cannot be parsed: .*
					#{1 +}          | has an expression that cannot be parsed: .*
					#{'a}           | has an expression that cannot be parsed: .*
					x#{#ordr.id}    | cannot be evaluated: there is no #ordr, only #a0, #order, #p0
					#{#a1}          | cannot be evaluated: there is no #a1, only #a0, #order, #p0
					#{#x}#{#y}      | cannot be evaluated: there is no #x, only .*; there is no #y, only .*
					#{#order.at(#x)}| cannot be evaluated: there is no #x, only .*
					#{{1}.?[#x]}    | cannot be evaluated: there is no #x, only .*
					#{#f(1)}        | cannot be evaluated: there are no functions such as #f.*
					#{order.id}     | cannot be evaluated: there is no property 'order' of #root, but a parameter: write #order
					#{root.methodName} | cannot be evaluated: there is no property 'root' of #root; write #root
					#{this.id}      | cannot be evaluated: there is no property 'this' of #root; write #this
					#{nothing}      | cannot be evaluated: there is no property 'nothing' of #root, only .args, method, methodName, target, targetClass.
					#{#root.nothing}| cannot be evaluated: there is no property 'nothing' of #root, only .*
					#{('a' + #order).trim()} | cannot be evaluated: \\('a' \\+ #order\\) inside an expression could join text with null; write the parts one after the other, as in order-#.#id.
					#{{1}.![#this + #order]} | cannot be evaluated: \\(#this \\+ #order\\) inside .*
					#order          | cannot be evaluated: #order is outside #... and is only text there, the same for all calls; write #.#order., or #.'#order'. if you mean that text
					'order-' + #order.id | cannot be evaluated: #order is outside .*
					order-#a0       | cannot be evaluated: #a0 is outside .*
					order-#p0-x     | cannot be evaluated: #p0 is outside .*
					#root.methodName | cannot be evaluated: #root is outside .*
					#order-#order-#a0-#{#order.id} | cannot be evaluated: #order is outside [^;]*; write [^;]*; #a0 is outside [^;]*; write [^;]*
					#{#order.id}-#order | cannot be evaluated: #order is outside .*
					x-${hash}       | cannot be evaluated: #order is outside .*
					x-${nowhere}    | has a placeholder that cannot be resolved: .*nowhere.*; set the property, or give it a default as in \\$.key:default.
					${blank}        | is blank after its placeholders are resolved; set a name, or omit it
					""")
	void brokenNamesAreRefused(String template, String reason) {
		assertThatIllegalArgumentException().isThrownBy(() -> parse("settle", template))
			.satisfies((ex) -> assertThat(ex.getMessage()).startsWith("the name '" + template + "' ")
				.matches("(?s)the name '.*' " + reason));
	}

	@Test
	void blankNameIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> parse("settle", "  "))
			.withMessage("the name '  ' is blank after its placeholders are resolved; set a name, or omit it");
		assertThatIllegalArgumentException().isThrownBy(() -> parser((text) -> null).parse(method("settle"), "x"))
			.withMessageContaining("is blank");
	}

	@Test
	void placeholderThatTheResolverLeavesAsItIsIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> parser((text) -> text).parse(method("settle"), "x-${nowhere}"))
			.withMessage("the name 'x-${nowhere}' has a placeholder that cannot be resolved: 'x-${nowhere}'; set the"
					+ " property, or give it a default as in ${key:default}");
	}

	@Test
	void errorSaysThatAMethodHasNoParameters() {
		assertThatIllegalArgumentException().isThrownBy(() -> parse("none", "#{#order}"))
			.withMessage("the name '#{#order}' cannot be evaluated: there is no #order, because the method has no"
					+ " parameters");
	}

	@Test
	void errorSaysThatAClassHasNoParameterNames(@TempDir Path folder) throws Exception {
		Class<?> type = new InMemoryCompiler(folder).source("a.Nameless", """
				package a;
				public class Nameless {
					public void settle(String order) { }
				}
				""").load("a.Nameless");
		LockedMethod method = new LockedMethod(type.getMethod("settle", String.class), type);
		assertThatIllegalArgumentException().isThrownBy(() -> this.parser.parse(method, "order-#{#order}"))
			.withMessage("the name 'order-#{#order}' cannot be evaluated: there is no #order, because the class was"
					+ " compiled without the names of its parameters; compile it with -parameters, or write #a0 for"
					+ " the first");
		assertThat(this.parser.parse(method, "order-#{#a0}").of(null, new Object[] { "7" })).isEqualTo("order-7");
	}

	@Test
	void textThatLooksLikeAParameterIsAllowed() {
		assertThat(name("settle", "#{'#order'}", new Order("7"))).isEqualTo("#order");
		assertThat(name("none", "#order")).isEqualTo("#order");
	}

	@Test
	void mapArgumentsAreReadByKey() {
		assertThat(name("any", "#{#value['id']}", Map.of("id", 9))).isEqualTo("9");
	}

	@ParameterizedTest
	@CsvSource({ "pay, #{#order}-#{#other}, 1-2", "pay, #{#o}-#{#a1}, 1-2", "swap, #{#order}-#{#other}, 1-2",
			"own, #{#other}-#{#order}, 1-2", "all, #{#order}-#{#o}, 1-1" })
	void parametersHaveTheNamesOfTheAnnotatedMethodAndOfTheMethodItself(String name, String template, String expected)
			throws Exception {
		Class<?> type = name.equals("all") ? PaymentOfAll.class : Payment.class;
		Method method = Arrays.stream(type.getMethods())
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge())
			.findFirst()
			.orElseThrow();
		LockName parsed = this.parser.parse(new LockedMethod(method, type), template);
		assertThat(parsed.of(null, new Object[] { "1", "2" })).isEqualTo(expected);
	}

	interface Payments<T> {

		@DistributedLock("any")
		void pay(T order, T other);

		@DistributedLock("any")
		void swap(T order, T other);

		void own(T order, T other);

	}

	public static class Payment implements Payments<String> {

		@Override
		public void pay(String o, String second) {
		}

		@Override
		public void swap(String other, String order) {
		}

		@Override
		@DistributedLock("any")
		public void own(String other, String order) {
		}

	}

	@DistributedLock("any")
	interface AllPayments<T> {

		void all(T order, String other);

	}

	public static class PaymentOfAll implements AllPayments<String> {

		@Override
		public void all(String o, String second) {
		}

	}

	private LockNameParser parser(StringValueResolver placeholders) {
		return new LockNameParser(new AttributeValues(placeholders), this.beanFactory);
	}

	private LockName parse(String method, String template) {
		return this.parser.parse(method(method), template);
	}

	private String name(String method, String template, Object... arguments) {
		return parse(method, template).of(this.target, arguments);
	}

	private static LockedMethod method(String name) {
		Method method = Arrays.stream(Orders.class.getDeclaredMethods())
			.filter((candidate) -> candidate.getName().equals(name))
			.findFirst()
			.orElseThrow();
		return new LockedMethod(method, Orders.class);
	}

	public record Order(String id) {
	}

	public static class OrderId {

		private final String text;

		public OrderId(String text) {
			this.text = text;
		}

		public String getText() {
			return this.text;
		}

	}

	record Sku(String id) {

		@Override
		public String toString() {
			return "sku " + this.id;
		}

	}

	public static class Failing {

		public String fail() {
			throw new UnsupportedOperationException("scripted");
		}

		@Override
		public String toString() {
			return fail();
		}

	}

	public static class Orders {

		public void settle(Order order) {
		}

		public void count(int left, long right) {
		}

		public void any(Object value) {
		}

		public void none() {
		}

		public String region() {
			return "north";
		}

	}

}
