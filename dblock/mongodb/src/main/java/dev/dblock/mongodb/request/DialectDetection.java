package dev.dblock.mongodb.request;

import java.util.function.Consumer;
import java.util.function.Function;

import com.mongodb.MongoServerException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides at first use whether the server can keep locks, and which dialect it supports.
 */
final class DialectDetection {

	private static final Logger logger = LoggerFactory.getLogger(DialectDetection.class);

	/** MongoDB 4.4: before it, a projection cannot include the server's time. */
	private static final int WIRE_VERSION_4_4 = 9;

	private final Consumer<StoreRequest> check;

	private final PipelineStatements pipeline;

	private final Statements classic;

	private final Function<StoreRequest, BsonDocument> hello;

	private final @Nullable Boolean setting;

	/** Kept if the caller's time ends before the dialect is known. */
	private volatile boolean checked;

	private volatile @Nullable Statements chosen;

	/**
	 * Create a detection.
	 * @param setting whether the server supports pipelines; {@code null} to detect it
	 * @param check fails if the server cannot keep locks, in whatever dialect
	 * @param pipeline the statements with pipelines
	 * @param classic the statements without
	 * @param hello describes the server
	 */
	DialectDetection(@Nullable Boolean setting, Consumer<StoreRequest> check, PipelineStatements pipeline,
			Statements classic, Function<StoreRequest, BsonDocument> hello) {
		this.check = check;
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
			if (!this.checked) {
				this.check.accept(store);
				this.checked = true;
			}
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
			boolean understood = this.pipeline.areUnderstood(store);
			if (understood && HelloCommand.isRouter(hello)) {
				logger.info(
						"Locks in '{}' depend on the clocks of the mongos routers: keep those clocks within the"
								+ " clock allowance (dblock.clock-allowance) less 250 ms of each other",
						store.collectionName());
			}
			return understood;
		}
		catch (MongoServerException ex) {
			if (FailureTranslation.saysNotUnderstood(ex)) {
				return false;
			}
			throw ex;
		}
	}

}
