package dev.dblock.compatibility;

/**
 * What is in the names of locks.
 *
 * @param id its number
 */
public record Order(String id) {
}
