/**
 * An application that uses dblock: a scheduled job that runs on one instance at a time, a
 * service method with a lock per order, and a lock taken by hand.
 */
@NullMarked
package dev.dblock.sample;

import org.jspecify.annotations.NullMarked;
