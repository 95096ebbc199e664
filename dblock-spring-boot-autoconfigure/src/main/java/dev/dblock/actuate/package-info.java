/**
 * Endpoints and health. The only package that depends on Actuator.
 */
@NullMarked
package dev.dblock.actuate;

import org.jspecify.annotations.NullMarked;
