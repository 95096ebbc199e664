package dev.dblock.simulation;

import java.util.function.Consumer;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import dev.dblock.faults.AccountLine;
import org.slf4j.LoggerFactory;

/**
 * Reads what instances log about planned times that did not run.
 */
final class AccountLog implements AutoCloseable {

	private static final String LOGGER = "dev.dblock.job.schedule.JobTask";

	private final Logger logger = (Logger) LoggerFactory.getLogger(LOGGER);

	private final UnsynchronizedAppenderBase<ILoggingEvent> appender;

	AccountLog(Consumer<AccountLine> reader) {
		this.appender = new UnsynchronizedAppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				AccountLine.in(event.getFormattedMessage()).ifPresent(reader);
			}

		};
		this.appender.start();
		this.logger.addAppender(this.appender);
		this.logger.setLevel(Level.INFO);
	}

	@Override
	public void close() {
		this.logger.detachAppender(this.appender);
		this.logger.setLevel(null);
	}

}
