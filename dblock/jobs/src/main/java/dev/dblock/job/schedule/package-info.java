/**
 * Captures the schedules of methods, plans their runs, and retries what was refused.
 * Internal: can change in any release.
 * <p>
 * A planned time is <em>due</em> when the server's clock has reached it. It is
 * <em>open</em> until an answer has closed it, and a <em>retry</em> is a further request
 * for it. The next planned time <em>overtakes</em> it once that was fired and is due. It
 * is <em>missed</em> when this instance gives it up, which {@code NextFiring} decides. If
 * no instance ran it before the start, it is <em>unrun</em>, which only {@code LookBack}
 * decides; the policy {@code whenMissed} is about these. Those that a later one has
 * settled are reported by {@code PlannedTimeAccount}, as missed or <em>skipped</em>. A
 * <em>look</em> is a request that only repeats a run if it crashed.
 */
@NullMarked
package dev.dblock.job.schedule;

import org.jspecify.annotations.NullMarked;
