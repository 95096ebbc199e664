package dev.dblock.annotation;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import org.junit.jupiter.api.Test;

import static dev.dblock.annotation.CheckedBeans.findings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the check of properties, methods, classes and beans in expressions.
 */
class DeclaredExpressionCheckTests {

	private static final String HERE = DeclaredExpressionCheckTests.class.getName() + "$";

	@Test
	void everythingUnknownIsReportedTogether() {
		assertThat(findings(Unknown.class)).containsExactly(
				problem("aProperty(Order)", "name 'a-#{#order.idd}'",
						"there is no property 'idd' of " + HERE + "Order"),
				problem("bNested(Order)", "name 'b-#{#a0.customer.nmae}'",
						"there is no property 'nmae' of " + HERE + "Customer"),
				problem("cMethod(Order)", "condition '#order.isUrgentt()'",
						"there is no method 'isUrgentt' of " + HERE + "Order"),
				problem("dJdk(String)", "name 'd-#{#id.lenght}'", "there is no property 'lenght' of java.lang.String"),
				problem("eResult(Order)", "name 'e-#{#order.number().valeu}'",
						"there is no property 'valeu' of java.lang.Long"),
				problem("fClass(String)", "name 'f-#{T(foo.Bar).of(#id)}'",
						"there is no class foo.Bar; write its full"
								+ " name, or only its simple name if it is in java.lang"),
				problem("gBean(String)", "name 'g-#{@nobody.name(#id)}'", "there is no bean 'nobody'"),
				problem("hBeans(String)", "condition '@'a.b'.test(#id) and &factory.test(#id)'",
						"there is no bean 'a.b'; there is no bean '&factory'"),
				problem("iRoot()", "name 'i-#{#root.method.nmae}'",
						"there is no property 'nmae' of java.lang.reflect.Method"),
				problem("jArgument(Order)", "name 'j-#{T(String).valueOf(#order.idd)}'",
						"there is no property 'idd' of " + HERE + "Order"),
				problem("lInList(List, Order)", "name 'l-#{#orders.?[id == #order.idd]}'",
						"there is no property 'idd' of " + HERE + "Order"));
	}

	private static String problem(String method, String attribute, String reason) {
		return "bean 'bean', " + HERE + "Unknown#" + method + ": the " + attribute + " cannot be evaluated: " + reason;
	}

	@Test
	void whatOnlyACallDeterminesIsNotReported() {
		assertThat(findings(Undetermined.class)).isEmpty();
		assertThat(findings(OrderWork.class)).isEmpty();
	}

	@Test
	void whatExistsIsNotReported() {
		assertThat(findings(Known.class)).isEmpty();
	}

	@Test
	void noBeanIsCreated() {
		AtomicBoolean created = new AtomicBoolean();
		InvalidLockDeclarationException ex = CheckedBeans.start((context) -> {
			context.registerBean("bean", UsingBean.class);
			context.registerBean("tenants", Tenants.class, () -> {
				created.set(true);
				return new Tenants();
			}, CheckedBeans::lazy);
			context.registerAlias("tenants", "clients");
		});
		assertThat(ex).isNull();
		assertThat(created).isFalse();
	}

	public static class Order {

		public final Customer customer = new Customer("c");

		public String getId() {
			return "1";
		}

		public boolean isUrgent() {
			return true;
		}

		public long number() {
			return 1;
		}

		public Optional<Customer> first() {
			return Optional.of(this.customer);
		}

	}

	public record Customer(String name) {
	}

	public record Box<T>(T value) {
	}

	public interface Shape {

	}

	public abstract static class Base {

	}

	public static class Tenants {

		public String current() {
			return "t";
		}

	}

	static class Unknown {

		@DistributedLock("a-#{#order.idd}")
		public void aProperty(Order order) {
		}

		@DistributedLock("b-#{#a0.customer.nmae}")
		public void bNested(Order order) {
		}

		@DistributedLock(name = "c", condition = "#order.isUrgentt()")
		public void cMethod(Order order) {
		}

		@DistributedLock("d-#{#id.lenght}")
		public void dJdk(String id) {
		}

		@DistributedLock("e-#{#order.number().valeu}")
		public void eResult(Order order) {
		}

		@DistributedLock("f-#{T(foo.Bar).of(#id)}")
		public void fClass(String id) {
		}

		@DistributedLock("g-#{@nobody.name(#id)}")
		public void gBean(String id) {
		}

		@DistributedLock(name = "h", condition = "@'a.b'.test(#id) and &factory.test(#id)")
		public void hBeans(String id) {
		}

		@DistributedLock("i-#{#root.method.nmae}")
		public void iRoot() {
		}

		@DistributedLock("j-#{T(String).valueOf(#order.idd)}")
		public void jArgument(Order order) {
		}

		@DistributedLock("l-#{#orders.?[id == #order.idd]}")
		public void lInList(List<Order> orders, Order order) {
		}

	}

	static class Undetermined {

		@DistributedLock("a-#{#shape.any}")
		public void anInterface(Shape shape) {
		}

		@DistributedLock("b-#{#base.any()}")
		public void anAbstractClass(Base base) {
		}

		@DistributedLock("c-#{#any.any}")
		public void anObject(Object any) {
		}

		@DistributedLock("d-#{#map.any}")
		public void aMap(Map<String, Order> map) {
		}

		@DistributedLock("e-#{#any.any}")
		public <T> void aTypeVariable(T any) {
		}

		@DistributedLock("f-#{#any.any}")
		public <T extends Order> void aBoundedTypeVariable(T any) {
		}

		@DistributedLock("g-#{#box.value.any}")
		public void aTypeArgument(Box<Order> box) {
		}

		@DistributedLock("h-#{#order.first()?.name}")
		public void anOptional(Order order) {
		}

		@DistributedLock("i-#{#type.enumConstants}")
		public void aClass(Class<?> type) {
		}

		@DistributedLock("j-#{#orders.length}")
		public void anArray(Order[] orders) {
		}

		@DistributedLock("k-#{#root.target.any}-#{#root.args[0].any}")
		public void theTarget(Order order) {
		}

		@DistributedLock("l-#{#order instanceof T(java.lang.Comparable) ? #order.rank : 'none'}")
		public void aSubclass(Order order) {
		}

		@DistributedLock("m-#{#orders.![any]}-#{#orders[0].any}")
		public void anElement(List<Order> orders) {
		}

	}

	static class Known {

		@DistributedLock(name = "a-#{#order.id}-#{#order.customer.name}-#{#order.urgent}-#{#order.number}",
				condition = "#order.getId() != null and #order.isUrgent() and #order.customer.name().length() > 0")
		public void properties(Order order) {
		}

		@DistributedLock("b-#{#id.bytes}-#{#count.hashCode()}-#{#count.byteValue()}")
		public void jdk(String id, int count) {
		}

		@DistributedLock("c-#{T(java.util.Locale).ENGLISH.language}-#{T(Integer).parseInt(#id)}-#{T(int)}-#{T(Math).PI}")
		public void classes(String id) {
		}

		@DistributedLock("d-#{#root.methodName.length()}-#{#root.method.name}-#{#root.targetClass.simpleName}")
		public void root() {
		}

		@DistributedLock("e-#{#box.value.id}")
		public void typeArgument(Box<Order> box) {
		}

		@DistributedLock("f-#{@bean.text(#id)}")
		public void bean(String id) {
		}

		public String text(String id) {
			return id;
		}

	}

	static class Work<T> {

		@DistributedLock("work-#{#item.any}")
		public void run(T item) {
		}

	}

	static class OrderWork extends Work<Order> {

	}

	static class UsingBean {

		@DistributedLock("a-#{@tenants.current()}-#{@clients.current()}")
		public void run() {
		}

	}

}
