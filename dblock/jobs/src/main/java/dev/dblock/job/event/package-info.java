/**
 * The events of jobs. The application can implement a
 * {@link dev.dblock.job.event.JobListener}, or receive application events with
 * {@link org.springframework.context.event.EventListener event listeners}.
 */
@NullMarked
package dev.dblock.job.event;

import org.jspecify.annotations.NullMarked;
