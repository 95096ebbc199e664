package dev.dblock.annotation.invocation;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.LockingConfiguration;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.mongodb.core.MongoOperations;
import org.springframework.data.mongodb.core.convert.MappingMongoConverter;
import org.springframework.data.mongodb.core.convert.NoOpDbRefResolver;
import org.springframework.data.mongodb.core.mapping.MongoMappingContext;
import org.springframework.data.mongodb.repository.support.MongoRepositoryFactory;
import org.springframework.data.mongodb.repository.support.MongoRepositoryFactoryBean;
import org.springframework.data.repository.CrudRepository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for annotations on an interface that a proxy or a lambda implements, also where
 * the target of a proxy does not implement the interface.
 */
class GeneratedTargetsTests {

	private static final String HERE = GeneratedTargetsTests.class.getName() + "$";

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	@AfterEach
	void close() {
		this.context.close();
	}

	@Test
	void inheritedMethodOfALambdaIsLocked() throws Exception {
		Task task = start(Task.class, () -> () -> "done");
		assertThat(task.call()).isEqualTo("done");
		assertThat(events()).containsExactly("lock task", "unlock task");
	}

	@Test
	void nameThatIsLeftOutIsThatOfTheInterfaceThatHasTheAnnotation() throws Exception {
		start(Nameless.class, () -> () -> "done").call();
		assertThat(events()).containsExactly("lock " + HERE + "Nameless#call", "unlock " + HERE + "Nameless#call");
	}

	@Test
	void annotationOfTheApplicationsOwnLocksInheritedMethods() throws Exception {
		start(MetaTask.class, () -> () -> "done").call();
		assertThat(events()).containsExactly("lock meta", "unlock meta");
	}

	@Test
	void inheritedMethodOfTheProxyOfAFactoryIsLocked() {
		this.context.registerBean("client", ClientFactory.class);
		LockedClient client = start(LockedClient.class);
		assertThat(client.get()).isEqualTo("get");
		assertThat(client.own()).isEqualTo("own");
		assertThat(events()).containsExactly("lock client", "unlock client", "lock client", "unlock client");
	}

	@Test
	void methodsOutsideTheInterfaceAreNotLocked() {
		this.context.registerBean("client", ClientFactory.class);
		LockedClient client = start(LockedClient.class);
		assertThat(client).hasToString("toString").isEqualTo(client).hasSameHashCodeAs(client);
		assertThat(((Advised) client).isFrozen()).isFalse();
		assertThat(events()).isEmpty();
		Both both = start(Both.class, () -> proxy(Both.class, Task.class));
		both.free();
		assertThat(events()).isEmpty();
	}

	@Test
	void inheritedMethodsOfARepositoryAreLocked() {
		registerRepository(Documents.class);
		Documents documents = start(Documents.class);
		documents.count();
		documents.own();
		assertThat(documents.toString()).contains("SimpleMongoRepository");
		assertThat(((Advised) documents).isFrozen()).isFalse();
		assertThat(events()).containsExactly("lock documents", "unlock documents", "lock documents",
				"unlock documents");
	}

	@Test
	void repositoryIsLockedInItsOwnName() {
		registerRepository(NamelessDocuments.class);
		start(NamelessDocuments.class).count();
		String name = HERE + "NamelessDocuments#count";
		assertThat(events()).containsExactly("lock " + name, "unlock " + name);
	}

	@Test
	void annotationOfARepositoryComesBeforeThatOfItsParent() {
		registerRepository(ChildDocuments.class);
		start(ChildDocuments.class).own();
		assertThat(events()).containsExactly("lock child", "unlock child");
	}

	@Test
	void repositoryWithoutAFactoryBeanIsLockedToo() {
		start(Documents.class, () -> new MongoRepositoryFactory(operations()).getRepository(Documents.class)).count();
		assertThat(events()).containsExactly("lock documents", "unlock documents");
	}

	@Test
	void implementationBehindAProxyComesBeforeItsInterfaces() throws Exception {
		ProxyFactory factory = new ProxyFactory(new LockedTask());
		start(Task.class, () -> (Task) factory.getProxy()).call();
		assertThat(events()).containsExactly("lock implementation", "unlock implementation");
	}

	@Test
	void ofTwoInterfacesTheFirstCounts() throws Exception {
		start(Task.class, () -> proxy(Task.class, Nameless.class)).call();
		assertThat(events()).containsExactly("lock task", "unlock task");
	}

	@Test
	void annotationOfTheMethodComesBeforeThatOfAnInterface() throws Exception {
		start(Task.class, () -> proxy(Task.class, OnMethod.class)).call();
		assertThat(events()).containsExactly("lock method", "unlock method");
	}

	@Test
	void methodThatTwoInterfacesDeclareIsLockedByTheAnnotatedOne() {
		start(Both.class, () -> proxy(Both.class, Task.class, Twin.class)).free();
		assertThat(events()).containsExactly("lock twin", "unlock twin");
	}

	@Test
	void declarationsAreCheckedAtTheStart() {
		String finding = "the name '#{#id}' cannot be evaluated: there is no #id, because the method has no"
				+ " parameters";
		assertThat(refused((context) -> context.registerBean("bean", Broken.class, () -> () -> "done")))
			.containsExactly("bean 'bean', " + HERE + "Broken#call(): " + finding);
		assertThat(refused((context) -> context.registerBean("bean", Broken.class, () -> proxy(Broken.class))))
			.containsExactly("bean 'bean', " + HERE + "Broken#call(): " + finding);
		assertThat(
				refused((context) -> context.registerBean("bean", Broken.class, () -> (Broken) foreign(Broken.class))))
			.containsExactly("bean 'bean', " + HERE + "Broken#call(): " + finding);
	}

	@Test
	void proxyThatNothingLocksIsRefused() {
		assertThat(refused((context) -> context.getBeanFactory().registerSingleton("bean", foreign(Task.class))))
			.singleElement()
			.asString()
			.startsWith("bean 'bean', " + HERE + "Task: has locked methods, but no proxy that locks them");
	}

	@Test
	void declarationThatIsKnownOnlyWhenCreatedIsCheckedThen() {
		this.context.registerBean("bean", Callable.class, () -> (Broken) () -> "done",
				(BeanDefinition definition) -> definition.setLazyInit(true));
		this.context.register(LockingConfiguration.class);
		this.context.refresh();
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> this.context.getBean("bean"))
			.havingCause()
			.isInstanceOf(InvalidLockDeclarationException.class)
			.withMessageContaining(HERE + "Broken#call(): the name '#{#id}' cannot be evaluated");
	}

	private <T> T start(Class<T> type, Supplier<? extends T> bean) {
		this.context.registerBean("bean-" + type.getSimpleName(), type, bean::get);
		return start(type);
	}

	private <T> T start(Class<T> type) {
		if (!this.context.isActive()) {
			this.context.register(LockingConfiguration.class);
			this.context.refresh();
		}
		return this.context.getBean(type);
	}

	private List<String> events() {
		return this.context.getBean(RecordingEngine.class).events();
	}

	private static List<String> refused(Consumer<AnnotationConfigApplicationContext> bean) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(LockingConfiguration.class);
			bean.accept(context);
			return catchThrowableOfType(InvalidLockDeclarationException.class, context::refresh).findings();
		}
	}

	private <R> void registerRepository(Class<R> type) {
		this.context.registerBean("repository", MongoRepositoryFactoryBean.class, () -> repositories(type));
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static MongoRepositoryFactoryBean<?, ?, ?> repositories(Class<?> type) {
		MongoRepositoryFactoryBean<?, ?, ?> factory = new MongoRepositoryFactoryBean(type);
		factory.setMongoOperations(operations());
		return factory;
	}

	private static MongoOperations operations() {
		MongoOperations operations = mock(MongoOperations.class);
		given(operations.getConverter())
			.willReturn(new MappingMongoConverter(NoOpDbRefResolver.INSTANCE, new MongoMappingContext()));
		return operations;
	}

	/**
	 * A proxy that answers with the name of the method.
	 */
	@SuppressWarnings("unchecked")
	private static <T> T proxy(Class<T> first, Class<?>... others) {
		Class<?>[] interfaces = new Class<?>[others.length + 1];
		interfaces[0] = first;
		System.arraycopy(others, 0, interfaces, 1, others.length);
		return (T) Proxy.newProxyInstance(GeneratedTargetsTests.class.getClassLoader(), interfaces, (self, method,
				arguments) -> method.getReturnType().isAssignableFrom(String.class) ? method.getName() : null);
	}

	/**
	 * A proxy of Spring's whose target has nothing to do with the interface.
	 */
	private static Object foreign(Class<?> type) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(type);
		factory.setTarget("foreign");
		factory.addAdvice((MethodInterceptor) (invocation) -> "answered");
		return factory.getProxy();
	}

	@DistributedLock("task")
	interface Task extends Callable<String> {

	}

	@DistributedLock
	interface Nameless extends Callable<String> {

	}

	@DistributedLock("#{#id}")
	interface Broken extends Callable<String> {

	}

	interface OnMethod extends Callable<String> {

		@Override
		@DistributedLock("method")
		String call() throws Exception;

	}

	@Target(ElementType.TYPE)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock("meta")
	@interface Locked {

	}

	@Locked
	interface MetaTask extends Callable<String> {

	}

	interface Both {

		void free();

	}

	@DistributedLock("twin")
	interface Twin {

		void free();

	}

	static class LockedTask implements Task {

		@Override
		@DistributedLock("implementation")
		public String call() {
			return "done";
		}

	}

	interface Client {

		String get();

	}

	@DistributedLock("client")
	interface LockedClient extends Client {

		String own();

	}

	static class ClientFactory implements FactoryBean<LockedClient> {

		@Override
		public LockedClient getObject() {
			return (LockedClient) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { LockedClient.class }, (self, method, arguments) -> switch (method.getName()) {
						case "hashCode" -> 1;
						case "equals" -> self == arguments[0];
						default -> method.getName();
					});
		}

		@Override
		public Class<?> getObjectType() {
			return LockedClient.class;
		}

	}

	record Document(String id) {
	}

	@DistributedLock("documents")
	interface Documents extends CrudRepository<Document, String> {

		default void own() {
		}

	}

	@DistributedLock
	interface NamelessDocuments extends CrudRepository<Document, String> {

	}

	@DistributedLock("parent")
	interface ParentDocuments extends CrudRepository<Document, String> {

		default void own() {
		}

	}

	@DistributedLock("child")
	interface ChildDocuments extends ParentDocuments {

	}

}
