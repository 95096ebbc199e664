package dev.dblock.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import com.mongodb.ConnectionString;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.bson.Document;

/**
 * The servers' own counters of the commands that each has received.
 */
final class ServerCounters implements AutoCloseable {

	private final List<MongoClient> clients;

	ServerCounters(Addresses addresses) {
		this.clients = new ConnectionString(addresses.mongodb()).getHosts()
			.stream()
			.map((host) -> MongoClients.create("mongodb://" + host + "/?directConnection=true"))
			.toList();
	}

	/**
	 * Observe the counters for a while.
	 * @param seconds how long
	 * @return the commands per second that all servers received, by name
	 * @throws InterruptedException if the calling thread was interrupted
	 */
	Rates watch(int seconds) throws InterruptedException {
		Map<String, Long> before = counts();
		long start = System.nanoTime();
		TimeUnit.SECONDS.sleep(seconds);
		Map<String, Long> after = counts();
		double elapsed = (System.nanoTime() - start) / 1e9;
		Map<String, Double> rates = new TreeMap<>();
		after.forEach((command, count) -> {
			long more = count - before.getOrDefault(command, 0L);
			if (more > 0) {
				rates.put(command, more / elapsed);
			}
		});
		return new Rates(rates);
	}

	/**
	 * Measure the processor time of all servers for a while.
	 * @param seconds how long
	 * @return the processor time per elapsed time, so 1 is one core
	 * @throws InterruptedException if the calling thread was interrupted
	 */
	double cores(int seconds) throws InterruptedException {
		long before = processorMicros();
		long start = System.nanoTime();
		TimeUnit.SECONDS.sleep(seconds);
		return (processorMicros() - before) * 1e3 / (System.nanoTime() - start);
	}

	private long processorMicros() {
		return this.clients.stream()
			.map((client) -> client.getDatabase("admin")
				.runCommand(new Document("serverStatus", 1))
				.get("extra_info", Document.class))
			.mapToLong((info) -> Numbers.integer(info, "user_time_us") + Numbers.integer(info, "system_time_us"))
			.sum();
	}

	/**
	 * Count the commands of one name.
	 * @param command the name as the servers know it
	 * @return the number of commands that all servers have received since each was
	 * started
	 */
	long count(String command) {
		return counts().getOrDefault(command, 0L);
	}

	private Map<String, Long> counts() {
		Map<String, Long> counts = new TreeMap<>();
		for (MongoClient client : this.clients) {
			Document commands = client.getDatabase("admin")
				.runCommand(new Document("serverStatus", 1))
				.get("metrics", Document.class)
				.get("commands", Document.class);
			commands.forEach((command, counters) -> {
				// MongoDB 4.4 also has parts of commands there, without a total
				if (counters instanceof Document document && document.get("total") instanceof Number total) {
					counts.merge(command, total.longValue(), Long::sum);
				}
			});
		}
		return counts;
	}

	@Override
	public void close() {
		this.clients.forEach(MongoClient::close);
	}

	/**
	 * Commands per second.
	 *
	 * @param perCommand the rates, by command name
	 */
	record Rates(Map<String, Double> perCommand) {

		double total() {
			return this.perCommand.values().stream().mapToDouble(Double::doubleValue).sum();
		}

		@Override
		public String toString() {
			return "%s (%s)".formatted(Quantity.perSecond(total()),
					this.perCommand.entrySet()
						.stream()
						.sorted(Map.Entry.<String, Double>comparingByValue().reversed())
						.map((entry) -> "%s %s".formatted(entry.getKey(), Unit.RATIO.format(entry.getValue())))
						.collect(Collectors.joining(", ")));
		}

	}

}
