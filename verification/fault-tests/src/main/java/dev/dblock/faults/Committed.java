package dev.dblock.faults;

/**
 * Number that transactions have left in the data.
 *
 * @param lock the lock under which it was written
 * @param value the number
 * @param times how many transactions have committed it
 */
record Committed(String lock, long value, int times) {

}
