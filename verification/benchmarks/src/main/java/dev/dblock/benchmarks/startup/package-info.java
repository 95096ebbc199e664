/**
 * Applications whose start is measured by the script {@code startup} next to the POM.
 */
@NullMarked
package dev.dblock.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
