/**
 * The lock repository on MongoDB. The only package that depends on the driver.
 */
@NullMarked
package dev.dblock.mongodb;

import org.jspecify.annotations.NullMarked;
