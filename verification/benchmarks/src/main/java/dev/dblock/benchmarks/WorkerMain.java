package dev.dblock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Main class of a {@link Worker}.
 */
final class WorkerMain {

	static final String FAILURE = "failure";

	private final Addresses addresses;

	private final Map<Subject, Locks.Section> entered = new EnumMap<>(Subject.class);

	private @Nullable Lab lab;

	private @Nullable Waiters waiters;

	private WorkerMain(Addresses addresses) {
		this.addresses = addresses;
	}

	public static void main(String[] arguments) throws IOException {
		Logging.configure();
		PrintStream answers = System.out;
		// Output of a library must not be mistaken for an answer
		System.setOut(System.err);
		WorkerMain worker = new WorkerMain(
				new Addresses(arguments[0], arguments[1], arguments[2].isEmpty() ? null : arguments[2]));
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String order = orders.readLine(); order != null; order = orders.readLine()) {
			answers.println(worker.answer(Document.parse(order)).toJson());
			answers.flush();
		}
		// The process that wanted the remaining results has ended
		Runtime.getRuntime().halt(0);
	}

	private Document answer(Document order) {
		try {
			return carryOut(order);
		}
		catch (Exception | Error ex) {
			ex.printStackTrace(System.err);
			return new Document(FAILURE, ex.toString());
		}
	}

	private Document carryOut(Document order) throws Exception {
		return switch (Job.valueOf(order.getString("job"))) {
			case WARM_UP -> warmUp(order);
			case ENTER -> enter(Subject.valueOf(order.getString("subject")), order.getString("name"));
			case LEAVE -> leave(Subject.valueOf(order.getString("subject")));
			case RAW_WRITES -> rawWrites(Subject.valueOf(order.getString("subject")));
			case CROWD -> crowd(order);
			case PERMITS -> permits(order);
			case WAIT -> await(order);
			case GRANTED -> new Document("granted", requireWaiters().granted());
			case PROCEED -> new Document("passed", requireWaiters().proceed());
			case HOLD_LEASES -> HeldLeases.measure(this.addresses, order.getInteger("count"),
					Duration.ofMillis(order.getInteger("millis")));
			case USE_NAMES -> UsedNames.measure(this.addresses, order.getInteger("count"));
			case DISCONNECT -> disconnect();
		};
	}

	private Document warmUp(Document order) throws Exception {
		List<Locks> subjects = new ArrayList<>();
		for (String subject : order.getList("subjects", String.class)) {
			subjects.add(lab().locks(Subject.valueOf(subject)));
		}
		WarmUp.run(subjects, order.getInteger("times"));
		return new Document();
	}

	private Document enter(Subject subject, String name) throws InterruptedException {
		Locks.Section section = lab().locks(subject).enter(name);
		long nanos = System.nanoTime();
		this.entered.put(subject, section);
		return new Document("nanos", nanos);
	}

	private Document leave(Subject subject) {
		Locks.Section section = this.entered.remove(subject);
		if (section == null) {
			throw new IllegalStateException("Nothing was entered");
		}
		long nanos = System.nanoTime();
		section.leave();
		return new Document("nanos", nanos);
	}

	private Document rawWrites(Subject subject) throws InterruptedException {
		Locks locks = lab().locks(subject);
		long start = System.nanoTime();
		locks.enter("hand-over").leave();
		return new Document("nanos", System.nanoTime() - start);
	}

	private Document crowd(Document order) throws Exception {
		Guard guard = new Guard();
		Locks locks = lab().locks(Subject.valueOf(order.getString("subject")));
		double perSecond = new Crowd(locks, order.getString("name"), order.getInteger("threads"), guard)
			.sectionsPerSecond(Numbers.integer(order, "fromNanos"), Duration.ofMillis(order.getInteger("millis")));
		return new Document("perSecond", perSecond).append("wrong", guard.overlaps() + guard.disorders());
	}

	private Document permits(Document order) throws Exception {
		DblockLocks locks = (DblockLocks) lab().locks(Subject.DBLOCK);
		return new PermitCrowd(locks.template(), order).run(order.getInteger("threads"),
				Numbers.integer(order, "fromNanos"), Duration.ofMillis(order.getInteger("millis")));
	}

	private Document await(Document order) throws InterruptedException {
		Waiters waiters = new Waiters(lab().locks(Subject.DBLOCK), order.getString("name"));
		waiters.start(order.getInteger("threads"));
		this.waiters = waiters;
		return new Document();
	}

	private Waiters requireWaiters() {
		Waiters waiters = this.waiters;
		if (waiters == null) {
			throw new IllegalStateException("No thread waits");
		}
		return waiters;
	}

	private Document disconnect() {
		Lab lab = this.lab;
		this.lab = null;
		if (lab != null) {
			lab.close();
		}
		return new Document();
	}

	private Lab lab() {
		Lab lab = this.lab;
		if (lab == null) {
			lab = new Lab(this.addresses);
			this.lab = lab;
		}
		return lab;
	}

	/**
	 * Orders that a worker accepts.
	 */
	enum Job {

		/**
		 * Enter many sections, so that their code is compiled.
		 */
		WARM_UP,

		/**
		 * Enter a section, and return the time of entry.
		 */
		ENTER,

		/**
		 * Leave the section, and return the time at which leaving began.
		 */
		LEAVE,

		/**
		 * Do the two raw writes, and return how long they took.
		 */
		RAW_WRITES,

		/**
		 * Let threads enter one section again and again.
		 */
		CROWD,

		/**
		 * Let threads hold permits of one lock again and again.
		 */
		PERMITS,

		/**
		 * Let threads wait for a section that is held.
		 */
		WAIT,

		/**
		 * Return the number of these threads that have entered.
		 */
		GRANTED,

		/**
		 * Let each thread leave in turn until all have passed.
		 */
		PROCEED,

		/**
		 * Hold many locks for a while.
		 */
		HOLD_LEASES,

		/**
		 * Use many names once each.
		 */
		USE_NAMES,

		/**
		 * Close all connections. They are opened again when needed.
		 */
		DISCONNECT;

		Document order() {
			return new Document("job", name());
		}

		Document order(Subject subject) {
			return order().append("subject", subject.name());
		}

	}

}
