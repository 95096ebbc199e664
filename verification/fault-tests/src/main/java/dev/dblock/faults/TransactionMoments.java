package dev.dblock.faults;

import java.util.function.Consumer;
import java.util.function.Supplier;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Notifies a thread that it is about to send the fence of its transaction, or its commit.
 */
final class TransactionMoments implements CommandListener {

	private static final String FENCES = "dblock_fences";

	private final ThreadLocal<@Nullable Consumer<Moment>> listener = new ThreadLocal<>();

	/**
	 * Run a write.
	 * @param listener receives the moments of the write, in this thread
	 * @param write the write
	 * @return the result of the write
	 */
	Written during(Consumer<Moment> listener, Supplier<Written> write) {
		this.listener.set(listener);
		try {
			return write.get();
		}
		finally {
			this.listener.remove();
		}
	}

	@Override
	public void commandStarted(CommandStartedEvent event) {
		Consumer<Moment> listener = this.listener.get();
		if (listener == null) {
			return;
		}
		BsonValue target = event.getCommand().get("findAndModify");
		if (target != null && target.asString().getValue().equals(FENCES)) {
			listener.accept(Moment.FENCE);
		}
		else if (event.getCommandName().equals("commitTransaction")) {
			listener.accept(Moment.COMMIT);
		}
	}

}
