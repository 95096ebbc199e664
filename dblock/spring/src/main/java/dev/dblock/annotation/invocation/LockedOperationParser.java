package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import dev.dblock.DistributedLock;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplates;
import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.name.AttributeValues;
import dev.dblock.annotation.name.LockName;
import dev.dblock.annotation.name.LockNameParser;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.execution.PendingTypes;
import dev.dblock.settings.LockSettings;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Creates an operation from a declaration, and reports all of its problems at once.
 */
final class LockedOperationParser {

	private static final String ANY_NAME = String.valueOf(LockSettings.ANYTHING);

	private final AttributeValues attributes;

	private final LockNameParser names;

	private final InvocationStrategies strategies;

	private final ObjectProvider<LockTemplates> templates;

	private final ObjectProvider<LockEngine> engine;

	private final Supplier<DefaultLockTemplate> template;

	/**
	 * Create a parser.
	 * @param beanFactory resolves placeholders, beans in expressions, and databases
	 * @param engine acquires the locks, unless a declaration names a database
	 */
	LockedOperationParser(ConfigurableListableBeanFactory beanFactory, ObjectProvider<LockEngine> engine) {
		this.attributes = new AttributeValues(beanFactory::resolveEmbeddedValue);
		this.names = new LockNameParser(this.attributes, beanFactory);
		this.strategies = new InvocationStrategies(new PendingTypes(beanFactory.getBeanClassLoader()));
		this.templates = beanFactory.getBeanProvider(LockTemplates.class);
		this.engine = engine;
		this.template = SingletonSupplier.of(() -> new DefaultLockTemplate(engine.getObject()));
	}

	/**
	 * Parse a declaration.
	 * @throws InvalidLockDeclarationException if it cannot work, with every reason
	 */
	LockedOperation parse(LockDeclaration declaration) {
		LockedMethod method = declaration.method();
		Findings findings = new Findings(method);
		if (declaration.contradiction() != null) {
			findings.add(declaration.contradiction());
		}
		LockDatabase database = findings.collect(() -> database(databaseFactory(declaration)));
		LockEngine engine = (database != null) ? database.engine() : null;
		List<MethodLock> locks = new ArrayList<>();
		for (DistributedLock annotation : declaration.annotations()) {
			MethodLock lock = lock(declaration, annotation, engine, findings);
			if (lock != null) {
				locks.add(lock);
			}
		}
		refuseTwice(locks, findings);
		InvocationStrategy strategy = (database != null)
				? findings.collect(() -> this.strategies.of(method, database.template())) : null;
		UnavailableHandler unavailable = (strategy != null)
				? findings.collect(() -> unavailable(declaration, locks, engine, strategy)) : null;
		if (strategy == null || unavailable == null || !findings.isEmpty()) {
			throw findings.toException();
		}
		return new LockedOperation(method, List.copyOf(locks), strategy, unavailable, engine,
				isSkippedByDefault(declaration));
	}

	private static boolean isSkippedByDefault(LockDeclaration declaration) {
		return LockAnnotations.isScheduled(declaration.method().method()) && declaration.annotations()
			.stream()
			.allMatch((lock) -> lock.whenUnavailable() == WhenUnavailable.DEFAULT && lock.fallback().isEmpty());
	}

	/**
	 * Return the database factory of all locks. Locks that are acquired together are
	 * stored in the same database, so that they have one order.
	 */
	private static String databaseFactory(LockDeclaration declaration) {
		List<String> factories = declaration.annotations()
			.stream()
			.map(DistributedLock::databaseFactory)
			.distinct()
			.toList();
		if (factories.size() > 1) {
			throw new IllegalArgumentException(
					("databaseFactory = \"%s\" and databaseFactory = \"%s\" are set, but the locks of one method must"
							+ " be in the same MongoDB; set the same one for each of them")
						.formatted(factories.get(0), factories.get(1)));
		}
		return factories.isEmpty() ? "" : factories.get(0);
	}

	private LockDatabase database(String factory) {
		String name = StringUtils.hasText(factory)
				? this.attributes.text("databaseFactory = \"%s\"".formatted(factory), factory) : null;
		if (!StringUtils.hasText(name)) {
			return new LockDatabase(this.engine.getIfAvailable(), this.template);
		}
		LockTemplates templates = this.templates.getIfAvailable();
		if (templates == null) {
			throw new IllegalArgumentException(
					"databaseFactory = \"%s\" is set, but there is no LockTemplates bean to look it up"
						.formatted(factory));
		}
		DefaultLockTemplate template = DefaultLockTemplate.of(templates.on(name.trim()));
		return new LockDatabase(template.engine(), () -> template);
	}

	private @Nullable MethodLock lock(LockDeclaration declaration, DistributedLock annotation,
			@Nullable LockEngine engine, Findings findings) {
		LockedMethod method = declaration.method();
		LockName name = findings.collect(() -> this.names.parse(method, annotation.name()));
		Findings own = (declaration.annotations().size() > 1)
				? findings.within("for the lock '%s'".formatted((name != null) ? name.template() : annotation.name()))
				: findings;
		Predicate<MethodInvocation> condition = own
			.collect(() -> this.names.parseCondition(method, annotation.condition()));
		LockOptions options = options(method, annotation, name, engine, own);
		return (name != null && options != null) ? new MethodLock(name, condition, options) : null;
	}

	/**
	 * Report locks that are declared twice without a condition. The same lock with
	 * mutually exclusive conditions is valid.
	 */
	private static void refuseTwice(List<MethodLock> locks, Findings findings) {
		Set<String> unconditional = new HashSet<>();
		for (MethodLock lock : locks) {
			if (lock.condition() == null && !unconditional.add(lock.name().template())) {
				findings.add("the lock '%s' is declared twice; remove one".formatted(lock.name().template()));
			}
		}
	}

	private @Nullable LockOptions options(LockedMethod method, DistributedLock lock, @Nullable LockName name,
			@Nullable LockEngine engine, Findings findings) {
		Duration lease = findings.collect(() -> duration("lease", lock.leaseSeconds(), lock.leaseString()));
		Duration wait = findings.collect(() -> duration("wait", lock.waitSeconds(), lock.waitString()));
		Duration minHold = findings.collect(() -> duration("minHold", lock.minHoldSeconds(), lock.minHoldString()));
		Duration maxHold = findings.collect(() -> duration("maxHold", lock.maxHoldSeconds(), lock.maxHoldString()));
		Integer permits = findings.collect(() -> this.attributes.permits(lock.permits(), lock.permitsString()));
		return findings.collect(() -> {
			LockOptions options = new LockOptions(lease, wait, minHold, maxHold, lock.autoRenew() ? null : false,
					(lock.whenLost() != WhenLost.NOTIFY) ? lock.whenLost() : null, method.path(),
					(name != null) ? name.template() : null, null, permits);
			if (engine != null) {
				engine.check((name != null) ? name.shape() : ANY_NAME, options);
			}
			return options;
		});
	}

	private @Nullable Duration duration(String attribute, long seconds, String text) {
		return this.attributes.duration(attribute, seconds, text);
	}

	private static UnavailableHandler unavailable(LockDeclaration declaration, List<MethodLock> locks,
			@Nullable LockEngine engine, InvocationStrategy strategy) {
		UnavailableHandler declared = declared(declaration, locks, engine, strategy);
		boolean declaredCounts = locks.isEmpty() || engine == null;
		for (MethodLock lock : locks) {
			WhenUnavailable set = (engine == null) ? null
					: engine.setting(lock.name().sample()).map(LockSettings.Setting::whenUnavailable).orElse(null);
			declaredCounts |= set == null;
			if (set != null && UnavailableHandler.skips(set, declaration.method())) {
				refuseSkip(strategy, "set when-unavailable: throw in dblock.locks (or the LockSettings bean)");
			}
		}
		if (declaredCounts && declared instanceof UnavailableHandler.Skip) {
			refuseSkip(strategy, "set whenUnavailable = THROW");
		}
		return declared;
	}

	private static UnavailableHandler declared(LockDeclaration declaration, List<MethodLock> locks,
			@Nullable LockEngine engine, InvocationStrategy strategy) {
		WhenUnavailable wanted = only(declaration, "whenUnavailable", DistributedLock::whenUnavailable,
				WhenUnavailable.DEFAULT);
		String fallback = only(declaration, "fallback", DistributedLock::fallback, "");
		if (fallback.isEmpty() && wanted == WhenUnavailable.RUN_AGAIN) {
			return runAgain(declaration, locks, engine, strategy);
		}
		if (fallback.isEmpty()) {
			return UnavailableHandler.skips(wanted, declaration.method())
					? new UnavailableHandler.Skip(declaration.method(), strategy) : UnavailableHandler.THROW;
		}
		if (wanted != WhenUnavailable.DEFAULT) {
			throw new IllegalArgumentException(
					"both fallback = \"%s\" and whenUnavailable = %s are set; remove one of them".formatted(fallback,
							wanted));
		}
		return FallbackMethod.of(declaration.method(), fallback);
	}

	/**
	 * Check that a method can run once more for another call: that its work ends with it,
	 * and that the other call has the same argument.
	 */
	private static UnavailableHandler runAgain(LockDeclaration declaration, List<MethodLock> locks,
			@Nullable LockEngine engine, InvocationStrategy strategy) {
		String refused = "whenUnavailable = RUN_AGAIN is set, but ";
		if (!(strategy instanceof BlockingInvocation)) {
			throw new IllegalArgumentException(
					refused + "the method returns before its work has ended; finish the work in the method");
		}
		if (declaration.annotations().size() > 1) {
			throw new IllegalArgumentException(refused + "the method has several locks; declare one");
		}
		for (MethodLock lock : locks) {
			LockOptions options = lock.options();
			if (options.waitUpTo() != null || options.minHold() != null) {
				throw new IllegalArgumentException(
						refused + "a wait and a minimum hold have no effect with it; remove them");
			}
			if (lock.permits(engine) > 0) {
				throw new IllegalArgumentException(refused
						+ "the lock has permits, so that another holder could run at the same time; remove one of the two");
			}
			Class<?>[] parameters = declaration.method().method().getParameterTypes();
			boolean suitable = parameters.length == 0
					|| parameters.length == 1 && BeanUtils.isSimpleValueType(parameters[0]) && lock.name().contains(0);
			if (!suitable) {
				throw new IllegalArgumentException(refused
						+ "the run for another call may have other arguments; declare no parameter, or one with a single"
						+ " value, such as a String or a number, that is a part of the name: #{#a0}");
			}
		}
		refuseSkip(strategy, "set whenUnavailable = THROW");
		return new UnavailableHandler.RunAgain(strategy);
	}

	/**
	 * Return the value on which all annotations with this attribute agree. Whichever lock
	 * is not available, the same method is not called.
	 */
	private static <T> T only(LockDeclaration declaration, String attribute, Function<DistributedLock, T> value,
			T absent) {
		List<T> present = declaration.annotations()
			.stream()
			.map(value)
			.filter((each) -> !each.equals(absent))
			.distinct()
			.toList();
		if (present.size() > 1) {
			throw new IllegalArgumentException(
					("its locks have %s = %s and %s = %s, but there is one method that is not called when any of them"
							+ " is unavailable; set it once")
						.formatted(attribute, present.get(0), attribute, present.get(1)));
		}
		return present.isEmpty() ? absent : present.get(0);
	}

	private static void refuseSkip(InvocationStrategy strategy, String remedy) {
		String obstacle = strategy.skipUnsupportedReason();
		if (obstacle != null) {
			throw new IllegalArgumentException(obstacle + ", or " + remedy);
		}
	}

	/**
	 * The database of a method's locks.
	 *
	 * @param engine the engine that acquires the locks; {@code null} if there is none
	 * @param template the template for calls
	 */
	private record LockDatabase(@Nullable LockEngine engine, Supplier<DefaultLockTemplate> template) {
	}

	/**
	 * The problems found for one method.
	 */
	private static final class Findings {

		private final List<String> sentences;

		private final String subject;

		Findings(LockedMethod method) {
			this(method.describe(), new ArrayList<>());
		}

		private Findings(String subject, List<String> sentences) {
			this.subject = subject;
			this.sentences = sentences;
		}

		/**
		 * Return a view of the same findings for one part of the method.
		 */
		Findings within(String part) {
			return new Findings(this.subject + ": " + part, this.sentences);
		}

		void add(String reason) {
			this.sentences.add(this.subject + ": " + reason);
		}

		<T> @Nullable T collect(Supplier<@Nullable T> attempt) {
			try {
				return attempt.get();
			}
			catch (IllegalArgumentException ex) {
				add(String.valueOf(ex.getMessage()));
				return null;
			}
		}

		boolean isEmpty() {
			return this.sentences.isEmpty();
		}

		InvalidLockDeclarationException toException() {
			return new InvalidLockDeclarationException(this.sentences);
		}

	}

}
