package dev.dblock.job;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A schedule of a job on one instance.
 *
 * @param description the schedule as text, such as {@code cron 0 0 2 * * * in
 * Europe/Berlin}, {@code fixed rate 5s} or {@code fixed delay 1m}
 * @param next the next planned time as far as this instance knows it, by the clock of the
 * server; {@code null} while it depends on a run that has not ended
 */
public record JobSchedule(String description, @Nullable Instant next) {
}
