package dev.dblock.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobRun;
import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.FileSystemGeneratedFiles;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests of an application that is processed ahead of time, compiled, and run in class
 * loaders of its own.
 */
@Timeout(300)
class AheadOfTimeTests {

	@TempDir
	Path folder;

	@ParameterizedTest
	@CsvSource({ "dblock.mode=mongodb, dblock.mode=none, UnlockedEngine without MongoDB",
			"dblock.mode=none, dblock.mode=mongodb, DefaultLockEngine on MongoDB",
			"dblock.mode=mongodb, dblock.mode=local, DefaultLockEngine without MongoDB" })
	void whereLocksAreKeptIsReadWhenTheApplicationRuns(String processed, String run, String engine) throws Exception {
		String initializer = process(processed, Application.class);
		compile();
		assertThat(run(initializer, run)).isEqualTo(engine + ", locked: true");
	}

	@Test
	void jobRunsForItsPlannedTimesUnderItsPolicy() throws Exception {
		String initializer = process("dblock.mode=mongodb", Application.class, Scheduling.class);
		compile();
		assertThat(run(initializer, "dblock.mode=local")).asString()
			.endsWith("locked: true, run of the-job in own scheduler1");
	}

	@Test
	void lockedLifecycleMethodIsRefusedWhenTheApplicationIsProcessed() {
		assertThatExceptionOfType(InvalidLockDeclarationException.class)
			.isThrownBy(() -> process("dblock.mode=mongodb", Application.class, LockedStart.class))
			.withMessageContaining("bean 'warmUp', ")
			.withMessageContaining("#run(): is called by Spring without the proxy that locks it");
	}

	private String process(String setting, Class<?>... configurations) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			properties(setting).applyTo(context);
			context.register(configurations);
			DefaultGenerationContext generation = new DefaultGenerationContext(
					new ClassNameGenerator(ClassName.get(Application.class)),
					new FileSystemGeneratedFiles(this.folder));
			ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
			generation.writeGeneratedContent();
			return initializer.reflectionName();
		}
	}

	private void compile() throws IOException {
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-d", compiled().toString(), "-cp",
				System.getProperty("java.class.path") + File.pathSeparator + this.folder.resolve("classes")));
		try (Stream<Path> sources = Files.walk(this.folder.resolve("sources"))) {
			sources.map(Path::toString).filter((path) -> path.endsWith(".java")).forEach(arguments::add);
		}
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
			.isZero();
	}

	private Path compiled() throws IOException {
		return Files.createDirectories(this.folder.resolve("compiled"));
	}

	private Object run(String initializer, String setting) throws Exception {
		List<URL> urls = new ArrayList<>();
		urls.add(compiled().toUri().toURL());
		urls.add(Files.createDirectories(this.folder.resolve("classes")).toUri().toURL());
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			urls.add(Path.of(entry).toUri().toURL());
		}
		// Generated classes use package-private methods, so that all has to come from one
		// class loader
		try (URLClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			ClassLoader before = ClassUtils.overrideThreadContextClassLoader(loader);
			try {
				return ClassUtils
					.getMethod(loader.loadClass(Processed.class.getName()), "run", String.class, String.class)
					.invoke(null, initializer, setting);
			}
			finally {
				Thread.currentThread().setContextClassLoader(before);
			}
		}
	}

	private static TestPropertyValues properties(String setting) {
		return TestPropertyValues.of(setting,
				"spring.mongodb.uri=mongodb://127.0.0.1:1/test?serverSelectionTimeoutMS=100");
	}

	/**
	 * Runs in the class loader of the application.
	 */
	public static final class Processed {

		private Processed() {
		}

		public static String run(String initializer, String setting) throws Exception {
			try (GenericApplicationContext context = new GenericApplicationContext()) {
				properties(setting).applyTo(context);
				Class<?> type = ClassUtils.forName(initializer, null);
				Object instance = type.getDeclaredConstructor().newInstance();
				ReflectionUtils.invokeMethod(ClassUtils.getMethod(type, "initialize", GenericApplicationContext.class),
						instance, context);
				context.refresh();
				return "%s %s MongoDB, locked: %s".formatted(
						context.getBean(LockEngine.class).getClass().getSimpleName(),
						context.getBeanFactory().containsSingleton("dblockLockRepository") ? "on" : "without",
						AopUtils.isAopProxy(context.getBean("job"))) + job(context);
			}
		}

		private static String job(GenericApplicationContext context) throws Exception {
			ScheduledJob job = context.getBeanProvider(ScheduledJob.class).getIfAvailable();
			return (job != null) ? ", " + job.first().get(120, TimeUnit.SECONDS) : "";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ MongoAutoConfiguration.class, DataMongoAutoConfiguration.class,
			AopAutoConfiguration.class, DblockAutoConfiguration.class, DblockAopAutoConfiguration.class })
	static class Application {

		@Bean
		Job job() {
			return new Job();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LockedStart {

		@Bean
		WarmUp warmUp() {
			return new WarmUp();
		}

	}

	static class WarmUp {

		@PostConstruct
		@DistributedLock
		void run() {
		}

	}

	static class Job {

		@DistributedLock("job")
		public void run() {
		}

	}

	/**
	 * The scheduler is set by a configurer that has no order, as that of dblock.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@ImportAutoConfiguration(DblockJobsAutoConfiguration.class)
	static class Scheduling {

		@Bean
		ThreadPoolTaskScheduler scheduler() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setThreadNamePrefix("own scheduler");
			return scheduler;
		}

		@Bean
		SchedulingConfigurer ownScheduler(ThreadPoolTaskScheduler scheduler) {
			return (registrar) -> registrar.setTaskScheduler(scheduler);
		}

		@Bean
		ScheduledJob scheduledJob() {
			return new ScheduledJob();
		}

	}

	static class ScheduledJob {

		private final CompletableFuture<String> first = new CompletableFuture<>();

		public CompletableFuture<String> first() {
			return this.first;
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock("scheduled-job")
		@JobPolicy(id = "the-job")
		void run() {
			this.first.complete("run of " + JobRun.current().map(JobRun::jobId).orElse("no job") + " in "
					+ Thread.currentThread().getName());
		}

	}

}
