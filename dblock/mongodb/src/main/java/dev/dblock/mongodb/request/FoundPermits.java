package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.LockInfo;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.Permits;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * The permits of a lock that a {@code find} for all of them has returned.
 */
final class FoundPermits {

	private final LeaseKey key;

	/** By number. One that is not stored, or only by its id, is free. */
	private final List<LockInfo> states;

	private final List<Integer> foreign = new ArrayList<>();

	/**
	 * Create the permits of a lock, none of which is stored yet.
	 */
	FoundPermits(LeaseKey key) {
		this.key = key;
		this.states = new ArrayList<>(key.ids().stream().map(FoundPermits::unknown).toList());
	}

	/**
	 * Return the state of a lock that is not stored.
	 */
	static LockInfo unknown(String name) {
		return new LockInfo(name, false, null, null, null, null, 0, null, null, null, null, Duration.ZERO);
	}

	void add(BsonDocument stored, long now) {
		int permit = (stored.get(LockDocument.ID) instanceof BsonString id)
				? Permits.numberOf(id.getValue(), this.key.name()) : 0;
		if (permit < 1 || permit > this.states.size() || LockDocument.isBare(stored)) {
			return;
		}
		LockDocument.readIfOurs(stored)
			.ifPresentOrElse((document) -> this.states.set(permit - 1, document.toInfo(now)),
					() -> this.foreign.add(permit));
	}

	/**
	 * Choose a permit to acquire. The first one is preferred, since a plain lock sees
	 * only that. Of the others, the holder's random id decides, so that callers rarely
	 * compete for the same one. A document that may be foreign comes last.
	 * @return the number; zero if all permits are held
	 */
	int choose() {
		List<Integer> free = IntStream.rangeClosed(1, this.states.size())
			.filter((permit) -> this.states.get(permit - 1).remaining().isZero())
			.boxed()
			.toList();
		List<Integer> usable = free.stream().filter((permit) -> !this.foreign.contains(permit)).toList();
		List<Integer> choice = usable.isEmpty() ? free : usable;
		if (choice.isEmpty()) {
			return 0;
		}
		return (choice.get(0) == 1) ? 1 : choice.get(Math.floorMod(this.key.holder().hashCode(), choice.size()));
	}

	/**
	 * Return the states of all permits, by number.
	 */
	List<LockInfo> states() {
		return this.states;
	}

}
