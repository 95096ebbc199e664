/**
 * Processes that take locks while they, their servers and their network are disturbed,
 * and the judge of their records.
 */
@NullMarked
package dev.dblock.faults;

import org.jspecify.annotations.NullMarked;
