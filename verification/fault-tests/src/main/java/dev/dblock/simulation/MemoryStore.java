package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import dev.dblock.LockInfo;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRun;
import dev.dblock.job.StoredJob;
import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository;
import dev.dblock.store.ReleaseFeed;

/**
 * A store in memory, of which the network carries requests and reports.
 */
final class MemoryStore implements Store, ReleaseFeed.Listener {

	private final World world;

	private final LocalLockStore store = new LocalLockStore();

	private final LocalLockRepository all = new LocalLockRepository(this.store);

	private final Map<Instance, SimulatedFeed> feeds = new LinkedHashMap<>();

	MemoryStore(World world) {
		this.world = world;
		this.all.releases().open(this);
	}

	@Override
	public LockRepository open(Instance instance) {
		SimulatedFeed feed = new SimulatedFeed(instance.process(), this.world.network());
		this.feeds.put(instance, feed);
		return new NetworkRepository(instance, feed, new LocalLockRepository(this.store), this.world.network(),
				this.world.judge());
	}

	@Override
	public void disturbReports(Instance instance) {
		SimulatedFeed feed = this.feeds.get(instance);
		if (feed != null) {
			feed.disturb();
		}
	}

	@Override
	public Instant time() {
		return this.all.time(Duration.ZERO).orElseThrow().notAfter();
	}

	@Override
	public List<LockInfo> locks() {
		return this.all.findAll(ListRequest.all("")).locks();
	}

	@Override
	public Duration remaining(String name) {
		return this.all.find(name).map(LockInfo::remaining).orElse(Duration.ZERO);
	}

	@Override
	public void listening() {
	}

	@Override
	public void released(String name) {
		this.feeds.keySet().removeIf((instance) -> instance.process().isKilled());
		this.feeds.values().forEach((feed) -> feed.released(name));
	}

	@Override
	public void interrupted(String reason) {
	}

	@Override
	public void unsupported(String reason) {
	}

	@Override
	public List<JobRun> runs(String name) {
		return this.all.claims()
			.flatMap((records) -> records.find(name, StoredJob.key(name), null))
			.map((record) -> ((JobStatus) record).runs())
			.orElse(List.of());
	}

}
