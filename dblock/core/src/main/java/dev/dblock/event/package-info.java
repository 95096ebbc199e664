/**
 * The events of locks. The application can implement a
 * {@link dev.dblock.event.LockListener}, or receive application events with
 * {@link org.springframework.context.event.EventListener event listeners}.
 */
@NullMarked
package dev.dblock.event;

import org.jspecify.annotations.NullMarked;
