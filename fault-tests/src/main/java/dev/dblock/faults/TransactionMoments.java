package dev.dblock.faults;

import java.util.function.Consumer;
import java.util.function.Supplier;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Tells a thread that it is about to send the fence of its transaction, or its commit.
 */
final class TransactionMoments implements CommandListener {

	private static final String FENCES = "dblock_fences";

	private final ThreadLocal<@Nullable Consumer<Moment>> told = new ThreadLocal<>();

	/**
	 * Do something.
	 * @param told what is told meanwhile, in this thread
	 * @param write what is done
	 * @return what came of it
	 */
	Written during(Consumer<Moment> told, Supplier<Written> write) {
		this.told.set(told);
		try {
			return write.get();
		}
		finally {
			this.told.remove();
		}
	}

	@Override
	public void commandStarted(CommandStartedEvent event) {
		Consumer<Moment> told = this.told.get();
		if (told == null) {
			return;
		}
		BsonValue target = event.getCommand().get("findAndModify");
		if (target != null && target.asString().getValue().equals(FENCES)) {
			told.accept(Moment.FENCE);
		}
		else if (event.getCommandName().equals("commitTransaction")) {
			told.accept(Moment.COMMIT);
		}
	}

}
