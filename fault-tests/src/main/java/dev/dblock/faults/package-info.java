/**
 * Processes that take locks while their servers, their network and they themselves are
 * disturbed, and the judge of what they recorded.
 */
@NullMarked
package dev.dblock.faults;

import org.jspecify.annotations.NullMarked;
