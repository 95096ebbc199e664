package dev.dblock.engine;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import dev.dblock.LockOptions;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.settings.LockSettings;
import dev.dblock.store.LockAdministration;

/**
 * The engine of {@link LockEngine#unlocked}.
 */
final class UnlockedEngine implements LockEngine {

	private final EngineSettings settings;

	/**
	 * Tokens must increase from one run of the application to the next. Otherwise a store
	 * that has seen a token would refuse the next run. No lock decision depends on this
	 * clock.
	 */
	private final AtomicLong token;

	UnlockedEngine(EngineSettings settings) {
		this(settings.checked(), new AtomicLong(System.currentTimeMillis() * 1024));
	}

	private UnlockedEngine(EngineSettings settings, AtomicLong token) {
		this.settings = settings;
		this.token = token;
	}

	@Override
	public Object id() {
		return this.token;
	}

	@Override
	public String fullName(String name) {
		return this.settings.fullName(name);
	}

	@Override
	public LockEngine resolved(Collection<String> names) {
		return new UnlockedEngine(this.settings.resolved(names), this.token);
	}

	@Override
	public void check(String name, LockOptions options) {
		this.settings.check(name, options);
	}

	@Override
	public Optional<LockSettings.Setting> setting(String name) {
		return Optional.of(this.settings.locks().of(name));
	}

	@Override
	public LockEngine.Attempt acquire(String name, LockOptions options) {
		String fullName = fullName(name);
		LeaseTerms terms = this.settings.terms(name, this.settings.locks().before(name, options));
		return new LockEngine.Granted(new UnlockedHandle(fullName, this.token.incrementAndGet(), terms.lease()));
	}

	@Override
	public LockOptions complete(String name, LockOptions options) {
		return this.settings.locks().before(name, options).orElse(this.settings.defaults());
	}

	@Override
	public LockAdministration administration() {
		return LockAdministration.NONE;
	}

}
