/**
 * Applications whose start is measured by the script {@code startup} beside the pom.
 */
@NullMarked
package dev.dblock.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
