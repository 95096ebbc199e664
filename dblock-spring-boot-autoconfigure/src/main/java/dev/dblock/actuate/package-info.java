/**
 * Endpoint and health. The only package that knows Actuator.
 */
@NullMarked
package dev.dblock.actuate;

import org.jspecify.annotations.NullMarked;
