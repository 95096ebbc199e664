package dev.dblock.mongodb;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import com.mongodb.MongoChangeStreamException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.ServerCursor;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.store.ReleaseFeed;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads one change stream until it is stopped. Retries after every failure, unless the
 * server reports that it does not support change streams or that the user lacks the
 * privilege. No error ends the thread, whatever its source.
 */
final class ChangeStreamReader {

	/**
	 * The time that the server waits for an event before it returns an empty answer.
	 * Stopping may take as long.
	 */
	private static final Duration LONGEST_SILENCE = Duration.ofSeconds(1);

	/**
	 * The time without any answer after which a server is considered unreachable. Until
	 * then, the waiters rely on being notified.
	 */
	static final Duration REQUEST_LIMIT = Duration.ofSeconds(3);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

	private static final long LONGEST_PAUSE_NANOS = LONGEST_PAUSE.toNanos();

	private static final int WITHOUT_CODE = -1;

	/**
	 * Unauthorized, unknown command, not a replica set, unknown stage, and the answers of
	 * the embedded server, which has no codes for what it does not support.
	 */
	private static final Set<Integer> UNSUPPORTED = Set.of(13, 59, 115, 40573, 40324, 20, 303, WITHOUT_CODE);

	private static final Logger logger = LoggerFactory.getLogger(ChangeStreamReader.class);

	private final Supplier<ChangeStreamIterable<BsonDocument>> streams;

	private final LongConsumer closeOnServer;

	private final ReleaseFeed.Listener listener;

	private final Thread thread;

	private final CountDownLatch stopped = new CountDownLatch(1);

	private @Nullable BsonDocument resumeToken;

	private Duration pause = FIRST_PAUSE;

	/**
	 * Create a reader.
	 * @param streams opens the stream
	 * @param closeOnServer closes a cursor on the server, by its id
	 * @param listener the listener
	 */
	ChangeStreamReader(Supplier<ChangeStreamIterable<BsonDocument>> streams, LongConsumer closeOnServer,
			ReleaseFeed.Listener listener) {
		this.streams = streams;
		this.closeOnServer = closeOnServer;
		this.listener = listener;
		this.thread = new Thread(this::run, "dblock-feed");
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
		synchronized (this.stopped) {
			if (!isStopped()) {
				this.stopped.countDown();
				this.thread.interrupt();
			}
		}
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
	 * Pause without any logging or allocation. The failure may have occurred while
	 * another one was logged or reported to the listener, and memory may be short, so
	 * nothing here may fail again.
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
	 * Read until the stream ends or fails.
	 * @return whether to open another stream
	 */
	private boolean read() {
		ChangeStreamIterable<BsonDocument> stream = this.streams.get()
			.maxAwaitTime(LONGEST_SILENCE.toMillis(), TimeUnit.MILLISECONDS);
		if (this.resumeToken != null) {
			stream.resumeAfter(this.resumeToken);
		}
		MongoChangeStreamCursor<ChangeStreamDocument<BsonDocument>> cursor = stream.cursor();
		ServerCursor open = null;
		try {
			this.listener.listening();
			boolean valid = true;
			while (valid && !isStopped()) {
				open = cursor.getServerCursor();
				ChangeStreamDocument<BsonDocument> event = cursor.tryNext();
				this.resumeToken = cursor.getResumeToken();
				this.pause = FIRST_PAUSE;
				valid = event == null || passOn(event);
			}
			return true;
		}
		catch (RuntimeException | Error ex) {
			// Reported before the cursor is closed: closing is a request as well,
			// possibly to a server that is unreachable
			return isStopped() || goOnAfter(ex);
		}
		finally {
			close(cursor, open);
		}
	}

	/**
	 * Close a cursor, which the server would keep for another ten minutes otherwise. The
	 * driver does not send the request if the time limit has passed since the cursor was
	 * opened. The interrupt flag is cleared before, since an interrupted thread gets no
	 * connection. After a failure, the next stream is not kept waiting by a server that
	 * may be unreachable. A server that is no longer the primary keeps the cursor.
	 */
	private void close(MongoCursor<?> cursor, @Nullable ServerCursor open) {
		synchronized (this.stopped) {
			boolean unused = Thread.interrupted();
		}
		try {
			cursor.close();
		}
		finally {
			if (isStopped() && open != null) {
				this.closeOnServer.accept(open.getId());
			}
		}
	}

	/**
	 * Pass an event on to the listener.
	 * @return whether the stream continues after it
	 */
	private boolean passOn(ChangeStreamDocument<BsonDocument> event) {
		if (ReleaseEvents.isOfTheCollection(event)) {
			// The next collection with this name is another one: open a new stream, at
			// which all waiters try to acquire
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
		if (ex instanceof MongoCommandException command
				&& (UNSUPPORTED.contains(command.getErrorCode()) || FailureTranslation.isDenied(command))) {
			this.listener
				.unsupported("the server offers no change streams here" + ((command.getErrorCode() != WITHOUT_CODE)
						? " (" + FailureTranslation.summary(command) + ")" : ""));
			return false;
		}
		logger.debug("The change stream of the locks broke and is opened again", ex);
		if (this.resumeToken != null && isUnresumable(ex)) {
			this.resumeToken = null;
			return true;
		}
		this.listener.interrupted((ex instanceof MongoException mongo) ? FailureTranslation.summary(mongo)
				: FailureTranslation.messageOf(ex));
		return !pause();
	}

	/**
	 * Return whether the failure is due to a resume token that is too old or not
	 * supported, and not to the network.
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
