/**
 * Application that uses dblock: a scheduled job that runs on one instance at a time, a
 * service method with a lock per customer, and a lock that is acquired programmatically.
 */
@NullMarked
package dev.dblock.sample;

import org.jspecify.annotations.NullMarked;
