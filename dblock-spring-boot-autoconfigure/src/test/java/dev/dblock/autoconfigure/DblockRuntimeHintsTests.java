package dev.dblock.autoconfigure;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Objects;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenMissed;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.hint.FieldHint;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.ReflectionHintsPredicates;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.http.HttpEntity;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.config.Task;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.web.context.request.async.DeferredResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for the runtime hints of native images.
 */
class DblockRuntimeHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	private final ReflectionHintsPredicates reflection = RuntimeHintsPredicates.reflection();

	@Test
	void typesThatAreFoundByNameAreKept() {
		registered();
		assertThat(this.reflection.onType(TypeReference.of("dev.dblock.annotation.name.LockNameRoot"))
			.withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS)).accepts(this.hints);
	}

	@Test
	void namesOfPropertiesAndSettingsOfJobsAreKept() {
		registered();
		assertThat(this.reflection.onType(DblockProperties.Job.class)).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.resource().forResource("META-INF/spring-configuration-metadata.json"))
			.accepts(this.hints);
	}

	@Test
	void timeZoneOfATriggerIsKept() {
		registered();
		assertThat(this.hints.reflection()
			.typeHints()
			.filter((hint) -> hint.getType().equals(TypeReference.of(CronTrigger.class)))).singleElement()
			.satisfies((hint) -> assertThat(hint.fields()).extracting(FieldHint::getName).containsExactly("zoneId"));
	}

	@Test
	void taskInTheWrapperOfSpringIsKept() {
		registered();
		Runnable task = new Task(() -> {
		}).getRunnable();
		assertThat(this.hints.reflection()
			.typeHints()
			.filter((hint) -> hint.getType().equals(TypeReference.of(task.getClass())))).singleElement()
			.satisfies((hint) -> assertThat(hint.fields()).extracting(FieldHint::getName).containsExactly("runnable"));
	}

	@Test
	void typesOfAsynchronousResultsAreKept() {
		registered();
		assertThat(this.reflection.onType(Flux.class)).accepts(this.hints);
		assertThat(this.reflection.onType(DeferredResult.class)).accepts(this.hints);
		assertThat(this.reflection.onType(HttpEntity.class).withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
			.accepts(this.hints);
	}

	@Test
	void fallbackMethodIsKept() throws NoSuchMethodException {
		declared(WithFallback.class);
		assertThat(this.reflection.onMethodInvocation(WithFallback.class.getDeclaredMethod("later", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onType(Order.class)).rejects(this.hints);
	}

	@Test
	void argumentsThatAConditionReadsAreKept() throws NoSuchMethodException {
		declared(WithCondition.class);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void typesOfAnotherSpringBootAreSkipped() {
		registered();
		assertThat(this.hints.reflection().typeHints().map((hint) -> hint.getType().getName()))
			.noneMatch((name) -> name.startsWith("org.springframework.boot.actuate"))
			.noneMatch((name) -> name.startsWith("org.springframework.boot.autoconfigure"));
		assertThat(this.hints.proxies().jdkProxyHints()).isEmpty();
	}

	private void registered() {
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter((registrar) -> registrar.getClass().getName().startsWith("dev.dblock."))
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@Test
	void lockedMethodAndWhatItsNameReadsAreKept() throws NoSuchMethodException {
		declared(Named.class);
		assertThat(this.reflection.onMethodInvocation(Named.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Customer.class.getDeclaredMethod("getId"))).accepts(this.hints);
	}

	@Test
	void lockedMethodOfAnInterfaceAndWhatItsNameReadsAreKept() throws NoSuchMethodException {
		declared(InheritingOrders.class);
		assertThat(this.reflection.onMethodInvocation(Orders.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void argumentsThatNoExpressionReadsAreNotKept() throws NoSuchMethodException {
		declared(Constant.class);
		assertThat(this.reflection.onMethodInvocation(Constant.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onType(Order.class)).rejects(this.hints);
	}

	@Test
	void methodsOfALockedClassAreKept() throws NoSuchMethodException {
		declared(LockedClass.class);
		assertThat(this.reflection.onMethodInvocation(LockedClass.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void methodsOfALockedClassThatAreNotPublicAreKeptAsWell() throws NoSuchMethodException {
		declared(LockedClassOfThePackage.class);
		assertThat(this.reflection
			.onMethodInvocation(LockedClassOfThePackage.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void annotationOfTheApplicationsOwnCountsAsWell() throws NoSuchMethodException {
		declared(OwnAnnotation.class);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void methodsThatEachOfSeveralAnnotationsNamesAreKept() throws NoSuchMethodException {
		declared(Repeated.class);
		assertThat(this.reflection.onMethodInvocation(Repeated.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Repeated.class.getDeclaredMethod("later", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void methodsThatEachOfSeveralAnnotationsOfAClassNamesAreKept() throws NoSuchMethodException {
		declared(RepeatedOnClass.class);
		assertThat(this.reflection.onMethodInvocation(RepeatedOnClass.class.getDeclaredMethod("settle", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(RepeatedOnClass.class.getDeclaredMethod("later", Order.class)))
			.accepts(this.hints);
		assertThat(this.reflection.onMethodInvocation(Order.class.getDeclaredMethod("customer"))).accepts(this.hints);
	}

	@Test
	void methodOfAJobIsKept() throws NoSuchMethodException {
		declared(Job.class);
		assertThat(this.reflection.onMethodInvocation(Job.class.getDeclaredMethod("run"))).accepts(this.hints);
	}

	private void declared(Class<?> type) {
		new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(this.hints, type);
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerBeanDefinition("bean", new RootBeanDefinition(type));
		GenerationContext generation = mock();
		given(generation.getRuntimeHints()).willReturn(this.hints);
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(BeanRegistrationAotProcessor.class, FailureHandler.handleMessage((message, failure) -> {
			}))
			.stream()
			.filter((processor) -> processor.getClass().getName().startsWith("dev.dblock."))
			.map((processor) -> processor.processAheadOfTime(RegisteredBean.of(beans, "bean")))
			.filter(Objects::nonNull)
			.forEach((contribution) -> contribution.applyTo(generation, mock()));
	}

	record Order(Customer customer) {
	}

	static class Customer {

		public String getId() {
			return "4711";
		}

	}

	interface Orders {

		@DistributedLock("order-#{#order.customer.id}")
		void settle(Order order);

	}

	static class OrdersBase {

		public void settle(Order order) {
		}

	}

	static class InheritingOrders extends OrdersBase implements Orders {

	}

	static class Named {

		@DistributedLock("order-#{#order.customer.id}")
		public void settle(Order order) {
		}

	}

	static class Job {

		@Scheduled(cron = "0 0 2 * * *")
		@DistributedLock("job")
		@JobPolicy(whenMissed = WhenMissed.RUN)
		void run() {
		}

	}

	static class Constant {

		@DistributedLock("orders")
		public void settle(Order order) {
		}

	}

	@DistributedLock("${the.name}")
	static class LockedClass {

		public void settle(Order order) {
		}

	}

	@DistributedLock("${the.name}")
	static class LockedClassOfThePackage {

		void settle(Order order) {
		}

	}

	static class WithFallback {

		@DistributedLock(name = "orders", fallback = "later")
		public void settle(Order order) {
		}

		void later(Order order) {
		}

	}

	static class Repeated {

		@DistributedLock("orders")
		@DistributedLock(name = "order-#{#order.customer.id}", fallback = "later")
		public void settle(Order order) {
		}

		private void later(Order order) {
		}

	}

	@DistributedLock("orders")
	@DistributedLock(name = "order-#{#order.customer.id}", fallback = "later")
	static class RepeatedOnClass {

		public void settle(Order order) {
		}

		private void later(Order order) {
		}

	}

	static class WithCondition {

		@DistributedLock(name = "orders", condition = "#order.customer != null")
		public void settle(Order order) {
		}

	}

	static class OwnAnnotation {

		@Settlement
		public void settle(Order order) {
		}

	}

	@DistributedLock("order-#{#a0.customer.id}")
	@Retention(RetentionPolicy.RUNTIME)
	@interface Settlement {

	}

}
