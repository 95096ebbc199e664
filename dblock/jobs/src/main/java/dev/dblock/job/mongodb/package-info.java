/**
 * The run records of jobs in the documents of their locks, and the rules by which MongoDB
 * grants a planned time.
 */
@NullMarked
package dev.dblock.job.mongodb;

import org.jspecify.annotations.NullMarked;
