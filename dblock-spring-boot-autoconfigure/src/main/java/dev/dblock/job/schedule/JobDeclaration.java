package dev.dblock.job.schedule;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What is declared on the method of a job.
 *
 * @param id the id of the job; {@code null} if only a call determines the name of its
 * lock
 * @param waitUpTo how long a call waits for the lock at most
 * @param minHold the minimum hold of the lock
 * @param obstacle why the method cannot run once per planned time, and what to do;
 * {@code null} if it can
 */
public record JobDeclaration(@Nullable String id, Duration waitUpTo, Duration minHold, @Nullable String obstacle) {
}
