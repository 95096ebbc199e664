package dev.dblock.support;

import java.util.Arrays;

import org.slf4j.Logger;

/**
 * Logs failures in one line each. The line contains the causes, and their stack trace is
 * logged at DEBUG only.
 */
public final class FailureLog {

	private static final int LONGEST_TEXT = 500;

	private FailureLog() {
	}

	/**
	 * Log a failure at WARN.
	 * @param logger the logger
	 * @param failure the failure
	 * @param message the message, to which the causes are appended
	 * @param arguments the arguments of the message
	 */
	public static void warn(Logger logger, Throwable failure, String message, Object... arguments) {
		Object[] all = Arrays.copyOf(arguments, arguments.length + 1, Object[].class);
		all[arguments.length] = causes(failure);
		logger.atWarn().log(message + ". Cause: {}", all);
		logger.debug("The stack trace of the cause", failure);
	}

	private static String causes(Throwable failure) {
		StringBuilder text = new StringBuilder(textOf(failure, LONGEST_TEXT));
		for (Throwable cause = failure.getCause(); cause != null
				&& text.length() < LONGEST_TEXT; cause = cause.getCause()) {
			String next = textOf(cause, LONGEST_TEXT);
			if (text.indexOf(next) < 0) {
				text.append("; caused by ").append(next);
			}
		}
		return text.toString();
	}

	/**
	 * Return the text of a failure in one line, with each control character replaced by a
	 * space.
	 * @param failure the failure
	 * @param longest how many characters the text may have
	 * @return the text
	 */
	public static String textOf(Throwable failure, int longest) {
		String text;
		try {
			text = failure.toString();
		}
		catch (Throwable ex) {
			// Not even an error may keep the caller from releasing its lock
			text = failure.getClass().getName();
		}
		return (text != null) ? onOneLine(text, longest) : "";
	}

	/**
	 * Return text in one line, with each control character replaced by a space. It is cut
	 * between two characters, since half of a pair would be stored as invalid text.
	 * @param text the text
	 * @param longest how many characters the result may have
	 * @return the text
	 */
	public static String onOneLine(String text, int longest) {
		StringBuilder line = new StringBuilder();
		for (int i = 0; i < text.length() && line.length() < longest; i++) {
			char next = text.charAt(i);
			line.append(Character.isISOControl(next) ? ' ' : next);
		}
		if (!line.isEmpty() && Character.isHighSurrogate(line.charAt(line.length() - 1))) {
			line.setLength(line.length() - 1);
		}
		return line.toString();
	}

}
