/**
 * The same schedules with dblock and with other schedulers, on instances whose clocks
 * differ.
 */
@NullMarked
package dev.dblock.peers;

import org.jspecify.annotations.NullMarked;
