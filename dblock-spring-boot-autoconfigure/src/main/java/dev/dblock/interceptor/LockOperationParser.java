package dev.dblock.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.dblock.DistributedLock;
import dev.dblock.LockEngine;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.interceptor.LockDatabases.LockDatabase;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Makes an operation of a declaration, and finds all that is wrong with it at once.
 */
final class LockOperationParser {

	private final LockNameParser names;

	private final LockDurations durations;

	private final LockSpans spans;

	private final Function<String, LockDatabase> databases;

	LockOperationParser(LockNameParser names, LockDurations durations, LockSpans spans,
			Function<String, LockDatabase> databases) {
		this.names = names;
		this.durations = durations;
		this.spans = spans;
		this.databases = databases;
	}

	/**
	 * Parse a declaration.
	 * @throws InvalidLockDeclarationException when it cannot work, with every reason
	 */
	LockOperation parse(LockDeclaration declaration) {
		Findings findings = new Findings(declaration.method());
		LockDatabase database = findings
			.collect(() -> this.databases.apply(declaration.annotation().databaseFactory()));
		LockEngine engine = (database != null) ? database.engine().get() : null;
		LockName name = findings.collect(() -> name(declaration, engine));
		LockCondition condition = findings
			.collect(() -> this.names.parseCondition(declaration.method(), declaration.annotation().condition()));
		LockOptions options = options(declaration, name, engine, findings);
		LockSpan span = (database != null)
				? findings.collect(() -> this.spans.of(declaration.method(), database.template())) : null;
		WhenUnavailable set = (engine != null && name != null) ? engine.whenUnavailable(name.sample()).orElse(null)
				: null;
		WhenRefused unavailable = (span != null) ? findings.collect(() -> unavailable(declaration, span, set)) : null;
		if (name == null || options == null || span == null || unavailable == null || !findings.isEmpty()) {
			throw findings.toException();
		}
		return new LockOperation(declaration.method(), name, condition, options, span, unavailable);
	}

	private LockName name(LockDeclaration declaration, @Nullable LockEngine engine) {
		LockName name = this.names.parse(declaration.method(), declaration.annotation().name());
		if (engine != null && name instanceof LockName.Constant constant) {
			engine.checkName(constant.text());
		}
		return name;
	}

	private @Nullable LockOptions options(LockDeclaration declaration, @Nullable LockName name,
			@Nullable LockEngine engine, Findings findings) {
		DistributedLock lock = declaration.annotation();
		Duration lease = findings.collect(() -> duration("lease", lock.leaseSeconds(), lock.leaseString()));
		Duration wait = findings.collect(() -> duration("wait", lock.waitSeconds(), lock.waitString()));
		Duration minHold = findings.collect(() -> duration("minHold", lock.minHoldSeconds(), lock.minHoldString()));
		Duration maxHold = findings.collect(() -> duration("maxHold", lock.maxHoldSeconds(), lock.maxHoldString()));
		return findings.collect(() -> {
			LockOptions options = new LockOptions(lease, wait, minHold, maxHold, lock.autoRenew() ? null : false,
					(lock.whenLost() != WhenLost.NOTIFY) ? lock.whenLost() : null, declaration.method().path(),
					(name != null) ? name.template() : null);
			if (engine != null) {
				check(engine, name, options);
			}
			return options;
		});
	}

	private static void check(LockEngine engine, @Nullable LockName name, LockOptions options) {
		if (name != null) {
			engine.check(name.shape(), options);
		}
		else {
			engine.check(options);
		}
	}

	private @Nullable Duration duration(String attribute, long seconds, String text) {
		return this.durations.resolve(attribute, seconds, text);
	}

	private static WhenRefused unavailable(LockDeclaration declaration, LockSpan span, @Nullable WhenUnavailable set) {
		LockedMethod method = declaration.method();
		WhenRefused declared = declared(declaration, span);
		if (set != null && skips(set, method)) {
			refuseSkip(span, "have dblock.locks (or the LockSettings bean) say when-unavailable: throw");
		}
		else if (set == null && declared instanceof WhenRefused.Skip) {
			refuseSkip(span, "set whenUnavailable = THROW");
		}
		return declared;
	}

	private static WhenRefused declared(LockDeclaration declaration, LockSpan span) {
		WhenUnavailable wanted = declaration.annotation().whenUnavailable();
		String fallback = declaration.annotation().fallback();
		if (fallback.isEmpty()) {
			return skips(wanted, declaration.method()) ? new WhenRefused.Skip(declaration.method(), span)
					: WhenRefused.THROW;
		}
		if (wanted != WhenUnavailable.DEFAULT) {
			throw new IllegalArgumentException(
					"both fallback = \"%s\" and whenUnavailable = %s are given; leave one of them out"
						.formatted(fallback, wanted));
		}
		return FallbackMethod.of(declaration.method(), fallback);
	}

	private static void refuseSkip(LockSpan span, String remedy) {
		String obstacle = span.obstacleToSkip();
		if (obstacle != null) {
			throw new IllegalArgumentException(obstacle + ", or " + remedy);
		}
	}

	/**
	 * Whether a method is to be skipped while its lock is not available.
	 */
	static boolean skips(WhenUnavailable wanted, LockedMethod method) {
		return (wanted != WhenUnavailable.DEFAULT) ? wanted == WhenUnavailable.SKIP : isScheduled(method.method());
	}

	private static boolean isScheduled(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Scheduled.class);
	}

	/**
	 * What was found to be wrong with one method.
	 */
	private static final class Findings {

		private final List<String> sentences = new ArrayList<>();

		private final LockedMethod method;

		Findings(LockedMethod method) {
			this.method = method;
		}

		void add(String reason) {
			this.sentences.add(this.method.describe() + ": " + reason);
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
