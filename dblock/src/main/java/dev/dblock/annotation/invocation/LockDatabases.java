package dev.dblock.annotation.invocation;

import java.util.function.Supplier;

import dev.dblock.LockTemplates;
import dev.dblock.annotation.name.AttributePlaceholders;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;
import org.springframework.util.function.SingletonSupplier;

/**
 * Determines the database of a method's locks: the one that its annotation names, or the
 * default one.
 */
final class LockDatabases {

	private final ObjectProvider<LockTemplates> templates;

	private final StringValueResolver placeholders;

	private final LockDatabase usual;

	LockDatabases(ObjectProvider<LockEngine> engine, ObjectProvider<LockTemplates> templates,
			StringValueResolver placeholders) {
		this.templates = templates;
		this.placeholders = placeholders;
		this.usual = new LockDatabase(engine::getIfAvailable,
				SingletonSupplier.of(() -> new DefaultLockTemplate(engine.getObject())));
	}

	/**
	 * Find a database.
	 * @param text the attribute of the annotation
	 * @throws IllegalArgumentException if there is no database with that name
	 */
	LockDatabase named(String text) {
		String name = StringUtils.hasText(text)
				? AttributePlaceholders.resolve(this.placeholders, "databaseFactory = \"%s\"".formatted(text), text)
				: text;
		return StringUtils.hasText(name) ? find(text, name.trim()) : this.usual;
	}

	private LockDatabase find(String text, String name) {
		LockTemplates templates = this.templates.getIfAvailable();
		if (templates == null) {
			throw new IllegalArgumentException(
					"databaseFactory = \"%s\" is set, but there is no LockTemplates bean to look it up"
						.formatted(text));
		}
		DefaultLockTemplate template = DefaultLockTemplate.of(templates.on(name));
		return new LockDatabase(template::engine, () -> template);
	}

	/**
	 * One database.
	 *
	 * @param engine the engine that acquires the locks, if there is one
	 * @param template the template for calls
	 */
	record LockDatabase(Supplier<@Nullable LockEngine> engine, Supplier<DefaultLockTemplate> template) {
	}

}
