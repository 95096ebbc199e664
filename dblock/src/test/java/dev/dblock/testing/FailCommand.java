package dev.dblock.testing;

import java.time.Duration;
import java.util.List;

import org.bson.Document;

/**
 * The effect of the server's {@code failCommand} fail point, and the commands that it
 * applies to. Each method returns a changed copy. Unless {@link #times(int)} is called it
 * stays active until it is cleared, which happens after each test.
 *
 * @param mode the fail point's mode
 * @param data the fail point's data
 */
public record FailCommand(Object mode, Document data) {

	/**
	 * Names the commands as the server knows them: {@code update}, {@code findAndModify},
	 * {@code find}, {@code aggregate}, {@code hello}.
	 * @param commands the names of the commands
	 * @return a fail point that does nothing yet
	 */
	public static FailCommand on(String... commands) {
		return new FailCommand("alwaysOn", new Document("failCommands", List.of(commands)));
	}

	/**
	 * Ends the failures after a number of commands.
	 * @param times how many commands fail
	 * @return the changed copy
	 */
	public FailCommand times(int times) {
		return new FailCommand(new Document("times", times), this.data);
	}

	/**
	 * Lets a number of commands pass before the first failure; all after it fail.
	 * @param commands how many commands pass
	 * @return the changed copy
	 */
	public FailCommand after(int commands) {
		return new FailCommand(new Document("skip", commands), this.data);
	}

	/**
	 * Answers with an error in place of running the command.
	 * @param code the server's error code
	 * @return the changed copy
	 */
	public FailCommand errorCode(int code) {
		return with("errorCode", code);
	}

	/**
	 * Replaces the labels that the server would give the error.
	 * @param labels the error labels, for instance {@code RetryableWriteError}
	 * @return the changed copy
	 */
	public FailCommand errorLabels(String... labels) {
		return with("errorLabels", List.of(labels));
	}

	/**
	 * Runs the command, and then answers that its write concern was not satisfied.
	 * @param code the server's error code
	 * @return the changed copy
	 */
	public FailCommand writeConcernError(int code) {
		return with("writeConcernError", new Document("code", code).append("errmsg", "failed by the test"));
	}

	/**
	 * Closes the connection in place of running the command.
	 * @return the changed copy
	 */
	public FailCommand closeConnection() {
		return with("closeConnection", true);
	}

	/**
	 * Waits before the command runs, or before it fails.
	 * @param delay how long
	 * @return the changed copy
	 */
	public FailCommand blockFor(Duration delay) {
		return with("blockConnection", true).with("blockTimeMS", delay.toMillis());
	}

	/**
	 * Spares all clients but those with the given {@code appName}.
	 * @param name the application's name in the connection string
	 * @return the changed copy
	 */
	public FailCommand forApplication(String name) {
		return with("appName", name);
	}

	/**
	 * Spares all commands but those on one collection.
	 * @param database the database
	 * @param collection the collection
	 * @return the changed copy
	 */
	public FailCommand forCollection(String database, String collection) {
		return with("namespace", database + "." + collection);
	}

	/**
	 * Sets any other field of the fail point's data.
	 * @param field the field
	 * @param value its value
	 * @return the changed copy
	 */
	public FailCommand with(String field, Object value) {
		return new FailCommand(this.mode, new Document(this.data).append(field, value));
	}

	Document toCommand() {
		return new Document("configureFailPoint", "failCommand").append("mode", this.mode).append("data", this.data);
	}

}
