/**
 * The events of locks and jobs: a {@link dev.dblock.event.LockListener} is called in the
 * application, and application events are published for
 * {@link org.springframework.context.event.EventListener event listeners}.
 */
@NullMarked
package dev.dblock.event;

import org.jspecify.annotations.NullMarked;
