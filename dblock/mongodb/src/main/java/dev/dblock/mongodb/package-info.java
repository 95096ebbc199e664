/**
 * The lock repository on MongoDB. Apart from the auto-configuration, only this package
 * and its subpackages use the driver.
 */
@NullMarked
package dev.dblock.mongodb;

import org.jspecify.annotations.NullMarked;
