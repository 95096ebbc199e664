package dev.dblock.mongodb.request;

import java.util.Set;
import java.util.function.Function;

import com.mongodb.MongoCommandException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects at first use which dialect the server supports.
 */
final class DialectDetection {

	private static final Logger logger = LoggerFactory.getLogger(DialectDetection.class);

	/** MongoDB 4.4: before it, a projection cannot include the server's time. */
	private static final int WIRE_VERSION_4_4 = 9;

	/**
	 * FailedToParse, TypeMismatch, CommandNotFound, CommandNotSupported,
	 * InvalidPipelineOperator, NotImplemented, an unknown variable, an unknown expression
	 * in a projection, an unknown stage.
	 */
	private static final Set<Integer> NOT_UNDERSTOOD = Set.of(9, 14, 59, 115, 168, 238, 17276, 31325, 40324);

	/** Not supported on Amazon DocumentDB; with another meaning on MongoDB. */
	private static final Set<Integer> NOT_SUPPORTED = Set.of(303, 304, 305);

	private final Statements pipeline;

	private final Statements classic;

	private final Function<StoreRequest, BsonDocument> hello;

	private final @Nullable Boolean setting;

	private volatile @Nullable Statements chosen;

	/**
	 * Create a detection.
	 * @param setting whether the server supports pipelines; {@code null} to detect it
	 * @param pipeline the statements with pipelines
	 * @param classic the statements without
	 * @param hello describes the server
	 */
	DialectDetection(@Nullable Boolean setting, Statements pipeline, Statements classic,
			Function<StoreRequest, BsonDocument> hello) {
		this.hello = hello;
		this.pipeline = pipeline;
		this.classic = classic;
		this.setting = setting;
	}

	/**
	 * Return the statements that the server supports.
	 * @param store the store
	 * @return the statements
	 */
	Statements statements(StoreRequest store) {
		Statements chosen = this.chosen;
		if (chosen == null) {
			boolean pipelines = (this.setting != null) ? this.setting : understandsPipeline(store);
			chosen = pipelines ? this.pipeline : this.classic;
			this.chosen = chosen;
			logger.debug("Locks in '{}' are kept with {}", store.collectionName(), chosen.getClass().getSimpleName());
		}
		return chosen;
	}

	private boolean understandsPipeline(StoreRequest store) {
		try {
			BsonDocument hello = this.hello.apply(store);
			if (hello.getNumber("maxWireVersion", new BsonInt32(0)).intValue() < WIRE_VERSION_4_4) {
				return false;
			}
			PipelineStatements.tryOut(store);
			if (HelloCommand.isRouter(hello)) {
				logger.info(
						"Locks in '{}' depend on the clocks of the mongos routers: keep those clocks within the"
								+ " clock allowance (dblock.clock-allowance) less 250 ms of each other",
						store.collectionName());
			}
			return true;
		}
		catch (MongoCommandException ex) {
			if (saysNotUnderstood(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private static boolean saysNotUnderstood(MongoCommandException ex) {
		return NOT_UNDERSTOOD.contains(ex.getErrorCode())
				|| NOT_SUPPORTED.contains(ex.getErrorCode()) && ex.getErrorMessage().contains("not supported");
	}

}
