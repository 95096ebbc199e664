package dev.dblock.faults;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import dev.dblock.job.JobOperations;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Process that runs scheduled jobs until all processes are to stop.
 */
final class JobWorker {

	private static final long LOOK_MILLIS = 20;

	private static final long PHASE_MILLIS = 700;

	/** The worker through which jobs are paused. */
	private static final int OPERATED = 1;

	private JobWorker() {
	}

	/**
	 * Run jobs.
	 * @param args the folder, the number of the worker, the number of its process, the
	 * seed, and properties of the application
	 */
	public static void main(String[] args) throws Exception {
		Path folder = Path.of(args[0]);
		int worker = Integer.parseInt(args[1]);
		int life = Integer.parseInt(args[2]);
		Stamps stamps = new Stamps(folder);
		stamps.forgetWrites(worker);
		JobRecords records = new JobRecords(folder, worker, life, stamps);
		List<String> properties = new ArrayList<>(List.of(args).subList(4, args.length));
		properties.add("--faults.phase=" + PHASE_MILLIS * worker);
		// Each process has another version than the one before it
		int version = 1 + (life + 1) % 2;
		properties.add("--spring.application.name=faults");
		properties.add("--faults.version=" + version);
		properties.add("--faults.cron=*/" + version + " * * * * *");
		properties.add("--faults.zone=" + ((version == 1) ? "UTC" : "Asia/Tokyo"));
		ConfigurableApplicationContext application = new SpringApplicationBuilder(JobWorkerConfiguration.class)
			.web(WebApplicationType.NONE)
			.logStartupInfo(false)
			.initializers((context) -> context.getBeanFactory().registerSingleton("jobRecords", records))
			.run(properties.toArray(String[]::new));
		records.ready();
		JobPauses pauses = new JobPauses(folder, application.getBean(JobOperations.class), records);
		while (!stamps.isStopped()) {
			if (worker == OPERATED) {
				pauses.look();
			}
			TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
		}
		application.close();
	}

}
