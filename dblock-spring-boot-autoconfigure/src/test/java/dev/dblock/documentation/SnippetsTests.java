package dev.dblock.documentation;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.dblock.DistributedLock;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.convert.DurationStyle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every block of Java in the documentation compiles, and asks for no lock that would stop
 * the start. Blocks of other libraries say more than "java" behind their fence; those of
 * the libraries that the benchmarks have are compiled there.
 */
@SameOnEachJdk
class SnippetsTests {

	private static final String IMPORTS = """
			import java.lang.reflect.Method;
			import java.time.*;
			import java.time.temporal.ChronoUnit;
			import java.util.*;
			import java.util.concurrent.TimeUnit;
			import java.util.concurrent.locks.Lock;
			import com.mongodb.MongoCommandException;
			import com.mongodb.client.*;
			import com.mongodb.client.model.FindOneAndUpdateOptions;
			import dev.dblock.*;
			import dev.dblock.annotation.EnableDistributedLocks;
			import dev.dblock.core.*;
			import dev.dblock.event.*;
			import dev.dblock.execution.DefaultLockTemplate;
			import dev.dblock.job.*;
			import dev.dblock.leader.*;
			import dev.dblock.mongodb.*;
			import dev.dblock.settings.*;
			import dev.dblock.transaction.*;
			import org.bson.conversions.Bson;
			import org.springframework.context.annotation.*;
			import org.springframework.context.event.EventListener;
			import org.springframework.data.mongodb.MongoDatabaseFactory;
			import org.springframework.data.mongodb.MongoTransactionManager;
			import org.springframework.scheduling.annotation.*;
			import org.springframework.scheduling.support.*;
			import org.springframework.transaction.annotation.Transactional;
			import org.springframework.transaction.reactive.TransactionalOperator;
			import org.springframework.util.ReflectionUtils;
			import reactor.core.publisher.Mono;
			import static com.mongodb.client.model.Filters.*;
			import static com.mongodb.client.model.Updates.*;
			import static java.time.Duration.*;
			""";

	/** Their snippets are cut out of code that is compiled, and run, elsewhere. */
	private static final Set<String> COMPARED_ELSEWHERE = Set.of("docs/methods.md", "docs/async.md", "docs/testing.md",
			"docs/several-locks.md", "docs/spring-integration.md", "docs/configuration.md", "docs/recipes.md");

	@TempDir
	Path classes;

	static Stream<Arguments> snippets() {
		return Markdown.all()
			.stream()
			.filter((page) -> !COMPARED_ELSEWHERE.contains(page.toString()))
			.flatMap((page) -> page.blocks("java").stream().map((block) -> Arguments.of(page, block)));
	}

	@ParameterizedTest
	@MethodSource("snippets")
	void everySnippetCompilesAndCouldStart(Markdown page, String snippet) {
		new SnippetCompiler(IMPORTS, DocumentedContext.class, this.classes).assertCompiles(page, snippet);
		assertThat(locks())
			.allSatisfy((lock) -> assertThat(minHold(lock)).as("%s: %s", page, lock).isLessThanOrEqualTo(lease(lock)));
	}

	/**
	 * The annotations of the block that was compiled last.
	 */
	private List<DistributedLock> locks() {
		return new ClassFileImporter().importPath(this.classes)
			.stream()
			.flatMap((type) -> type.getMethods().stream())
			.flatMap((method) -> method.tryGetAnnotationOfType(DistributedLock.class).stream())
			.toList();
	}

	private static Duration minHold(DistributedLock lock) {
		return duration(lock.minHoldSeconds(), lock.minHoldString(), Duration.ZERO);
	}

	private static Duration lease(DistributedLock lock) {
		return duration(lock.leaseSeconds(), lock.leaseString(), Duration.ofSeconds(30));
	}

	private static Duration duration(long seconds, String text, Duration leftOut) {
		if (!text.isEmpty()) {
			return DurationStyle.detectAndParse(text);
		}
		return (seconds != DistributedLock.NOT_SET) ? Duration.ofSeconds(seconds) : leftOut;
	}

}
