package dev.dblock.testing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

import org.springframework.boot.logging.logback.StructuredLogEncoder;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;

/**
 * Captures the log while it is open, in the form of an application that has set
 * {@code logging.structured.format.console}.
 */
public final class StructuredLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("dev.dblock");

	private final StructuredLogEncoder encoder = new StructuredLogEncoder();

	private final List<Document> lines = new CopyOnWriteArrayList<>();

	private final @Nullable Level before = this.logger.getLevel();

	public StructuredLog(String format) {
		this(format, Level.INFO);
	}

	public StructuredLog(String format, Level level) {
		LoggerContext context = new LoggerContext();
		context.putObject(Environment.class.getName(), new StandardEnvironment());
		this.encoder.setContext(context);
		this.encoder.setFormat(format);
		this.encoder.setCharset(StandardCharsets.UTF_8);
		this.encoder.start();
		setContext(this.logger.getLoggerContext());
		start();
		this.logger.addAppender(this);
		this.logger.setLevel(level);
	}

	@Override
	protected void append(ILoggingEvent event) {
		this.lines.add(Document.parse(new String(this.encoder.encode(event), StandardCharsets.UTF_8)));
	}

	/**
	 * The only line that has a text in it.
	 */
	public Document line(String text) {
		List<Document> found = this.lines.stream().filter((line) -> line.getString("message").contains(text)).toList();
		if (found.size() != 1) {
			throw new AssertionError("%d lines have '%s' in them, of %s".formatted(found.size(), text, this.lines));
		}
		return found.get(0);
	}

	public List<String> messages() {
		return this.lines.stream().map((line) -> line.getString("message")).toList();
	}

	@Override
	public void close() {
		this.logger.setLevel(this.before);
		this.logger.detachAppender(this);
		stop();
	}

}
