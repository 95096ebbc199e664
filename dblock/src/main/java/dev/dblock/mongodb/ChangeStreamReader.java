package dev.dblock.mongodb;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import com.mongodb.MongoChangeStreamException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.store.ReleaseListener;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one change stream until it is stopped. Whatever goes wrong is followed by another
 * attempt, unless the server says that it has no such thing or that the user may not see
 * it. No error ends the thread, wherever it comes from.
 */
final class ChangeStreamReader {

	/**
	 * How long the server holds back an answer without news; so long may stopping take.
	 */
	private static final Duration LONGEST_SILENCE = Duration.ofSeconds(1);

	/**
	 * A server that says nothing at all for that long is taken for gone: until then, the
	 * waiters believe that they would be told.
	 */
	static final Duration REQUEST_LIMIT = Duration.ofSeconds(3);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

	private static final long LONGEST_PAUSE_NANOS = LONGEST_PAUSE.toNanos();

	/**
	 * Denied; unknown command; no replica set; unknown stage; what the embedded server
	 * answers, which knows no codes for what it does not know.
	 */
	private static final Set<Integer> UNSUPPORTED = Set.of(13, 59, 115, 40573, 40324, 20, 303, -1);

	private static final Logger logger = LoggerFactory.getLogger(ChangeStreamReader.class);

	private final Supplier<ChangeStreamIterable<BsonDocument>> streams;

	private final ReleaseListener listener;

	private final Thread thread;

	private final CountDownLatch stopped = new CountDownLatch(1);

	private @Nullable BsonDocument resumeToken;

	private Duration pause = FIRST_PAUSE;

	ChangeStreamReader(Supplier<ChangeStreamIterable<BsonDocument>> streams, ReleaseListener listener) {
		this.streams = streams;
		this.listener = listener;
		this.thread = new Thread(this::run, "dblock-releases");
		this.thread.setDaemon(true);
	}

	void start() {
		this.thread.start();
	}

	boolean isReading() {
		return this.thread.isAlive() && !isStopped();
	}

	/**
	 * Stop reading.
	 * @param atMost how long to wait until the cursor is closed
	 */
	void stop(Duration atMost) {
		this.stopped.countDown();
		this.thread.interrupt();
		if (atMost.isZero()) {
			return;
		}
		try {
			this.thread.join(atMost.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean isStopped() {
		return this.stopped.getCount() == 0;
	}

	private void run() {
		boolean goOn = true;
		while (goOn && !isStopped()) {
			try {
				goOn = readOrRecover();
			}
			catch (RuntimeException | Error ex) {
				pauseUnsaid();
			}
		}
	}

	/**
	 * What failed may have been the telling of a failure, in a log or to the listener,
	 * and memory may be short: nothing is said or made here that could fail again.
	 */
	private void pauseUnsaid() {
		LockSupport.parkNanos(this, LONGEST_PAUSE_NANOS);
		boolean unused = Thread.interrupted();
	}

	private boolean readOrRecover() {
		try {
			return read();
		}
		catch (RuntimeException | Error ex) {
			return isStopped() || goOnAfter(ex);
		}
	}

	/**
	 * Read until the stream ends or breaks.
	 * @return whether to open another
	 */
	private boolean read() {
		ChangeStreamIterable<BsonDocument> stream = this.streams.get()
			.maxAwaitTime(LONGEST_SILENCE.toMillis(), TimeUnit.MILLISECONDS);
		if (this.resumeToken != null) {
			stream.resumeAfter(this.resumeToken);
		}
		MongoChangeStreamCursor<ChangeStreamDocument<BsonDocument>> cursor = stream.cursor();
		try {
			this.listener.listening();
			boolean valid = true;
			while (valid && !isStopped()) {
				ChangeStreamDocument<BsonDocument> event = cursor.tryNext();
				this.resumeToken = cursor.getResumeToken();
				this.pause = FIRST_PAUSE;
				valid = event == null || tell(event);
			}
			return true;
		}
		catch (RuntimeException | Error ex) {
			// Told first: closing is a request too, and may be sent to a server that is
			// gone
			return isStopped() || goOnAfter(ex);
		}
		finally {
			close(cursor);
		}
	}

	/**
	 * An interrupted thread gets no connection, and then the server would keep the cursor
	 * for another ten minutes.
	 */
	private static void close(MongoCursor<?> cursor) {
		boolean unused = Thread.interrupted();
		cursor.close();
	}

	/**
	 * Pass an event on.
	 * @return whether the stream goes on after it
	 */
	private boolean tell(ChangeStreamDocument<BsonDocument> event) {
		if (ReleaseEvents.isOfTheCollection(event)) {
			// What follows is another collection of the same name: open anew, and try all
			this.resumeToken = null;
			return false;
		}
		String name = ReleaseEvents.name(event);
		if (name != null) {
			this.listener.released(name);
		}
		return true;
	}

	private boolean goOnAfter(Throwable ex) {
		if (ex instanceof MongoCommandException command && UNSUPPORTED.contains(command.getErrorCode())) {
			this.listener.unsupported(
					"the server offers no change streams here (%s)".formatted(FailureTranslation.summary(command)));
			return false;
		}
		logger.debug("The change stream of the locks broke and is opened again", ex);
		if (this.resumeToken != null && isUnresumable(ex)) {
			this.resumeToken = null;
			return true;
		}
		this.listener.interrupted((ex instanceof MongoException mongo) ? FailureTranslation.summary(mongo)
				: String.valueOf(ex.getMessage()));
		return !pause();
	}

	/**
	 * The token is too old or not understood, not the network gone.
	 */
	private static boolean isUnresumable(Throwable ex) {
		return ex instanceof MongoChangeStreamException
				|| ex instanceof MongoException mongo && mongo.hasErrorLabel("NonResumableChangeStreamError")
				|| ex instanceof MongoCommandException;
	}

	private boolean pause() {
		try {
			boolean over = this.stopped.await(this.pause.toMillis(), TimeUnit.MILLISECONDS);
			Duration next = this.pause.multipliedBy(2);
			this.pause = (next.compareTo(LONGEST_PAUSE) < 0) ? next : LONGEST_PAUSE;
			return over;
		}
		catch (InterruptedException ex) {
			return isStopped();
		}
	}

}
