package dev.dblock.testing;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * Serves {@link MongoServerTest @MongoServerTest}. A server is started when a test first
 * needs it, shared by all tests that ask for its kind, and stopped at the end of the run.
 */
public final class MongoServerExtension implements ExecutionCondition, ParameterResolver {

	private static final Logger logger = System.getLogger(MongoServerExtension.class.getName());

	private static final Namespace NAMESPACE = Namespace.create(MongoServerExtension.class);

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		Optional<Request> request = request(context);
		if (request.isEmpty() || sources(context).find(request.get().demand()).isPresent()) {
			return ConditionEvaluationResult.enabled("a server can be had, or none is needed");
		}
		return ConditionEvaluationResult.disabled(ServerSources.reasonToSkip(request.get().demand()));
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return MongoServer.class.isAssignableFrom(parameter.getParameter().getType());
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		Request request = request(context)
			.orElseThrow(() -> new ParameterResolutionException("@MongoServerTest is missing"));
		Class<?> type = parameter.getParameter().getType();
		MongoServer server = view(context, request);
		if (!type.isInstance(server)) {
			throw new ParameterResolutionException("A " + type.getSimpleName()
					+ " needs a kind of replica set, and the test asks for " + request.demand().kind());
		}
		return server;
	}

	private static MongoServer view(ExtensionContext context, Request request) {
		Deployment deployment = deployment(context, request);
		return context.getStore(NAMESPACE)
			.computeIfAbsent(context.getUniqueId(), (id) -> View.of(deployment), View.class)
			.server();
	}

	private static Deployment deployment(ExtensionContext context, Request request) {
		ServerSources.Source source = sources(context).find(request.demand())
			.orElseThrow(() -> new ParameterResolutionException(ServerSources.reasonToSkip(request.demand())));
		Store store = request.demand().fresh() ? request.declaring().getStore(NAMESPACE) : session(context);
		String key = request.demand().fresh() ? request.declaring().getUniqueId() + "#fresh" : source.name();
		return store.computeIfAbsent(key, (name) -> start(source), Deployment.class);
	}

	private static Deployment start(ServerSources.Source source) {
		long start = System.nanoTime();
		Deployment deployment = source.start().get();
		logger.log(Level.INFO, "Tests use {0}, ready after {1} ms", deployment,
				(System.nanoTime() - start) / 1_000_000);
		return deployment;
	}

	private static ServerSources sources(ExtensionContext context) {
		return session(context).computeIfAbsent(ServerSources.class, (type) -> ServerSources.ofThisMachine(),
				ServerSources.class);
	}

	private static Store session(ExtensionContext context) {
		return context.getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE);
	}

	private static Optional<Request> request(ExtensionContext context) {
		for (Optional<ExtensionContext> each = Optional.of(context); each.isPresent(); each = each.get().getParent()) {
			ExtensionContext declaring = each.get();
			Optional<MongoServerTest> annotation = declaring.getElement()
				.flatMap((element) -> AnnotationSupport.findAnnotation(element, MongoServerTest.class));
			if (annotation.isPresent()) {
				return Optional.of(new Request(declaring, ServerDemand.of(annotation.get(), wantsReplicaSet(context))));
			}
		}
		return Optional.empty();
	}

	private static boolean wantsReplicaSet(ExtensionContext context) {
		Stream<Class<?>> classes = Stream.concat(context.getEnclosingTestClasses().stream(),
				context.getTestClass().stream());
		return Stream.concat(context.getTestMethod().stream(), classes.flatMap(MongoServerExtension::lifecycleMethods))
			.map(Executable::getParameterTypes)
			.anyMatch((types) -> Arrays.asList(types).contains(MongoReplicaSet.class));
	}

	private static Stream<Executable> lifecycleMethods(Class<?> type) {
		List<Method> methods = ReflectionSupport.findMethods(type,
				(method) -> Stream.of(BeforeAll.class, BeforeEach.class, AfterEach.class, AfterAll.class)
					.anyMatch((annotation) -> AnnotationSupport.isAnnotated(method, annotation)),
				HierarchyTraversalMode.TOP_DOWN);
		return Stream.concat(methods.stream(), Arrays.stream(type.getDeclaredConstructors()));
	}

	/**
	 * A demand, and where it was declared: there a private server lives and dies.
	 */
	private record Request(ExtensionContext declaring, ServerDemand demand) {
	}

	/**
	 * Lets the store end a test's use of its server.
	 */
	private record View(MongoServer server) implements AutoCloseable {

		static View of(Deployment deployment) {
			return new View((deployment instanceof MongodDeployment mongod && mongod.kind().isReplicaSet())
					? new MongoReplicaSet(mongod) : new MongoServer(deployment));
		}

		@Override
		public void close() {
			this.server.release();
		}

	}

}
