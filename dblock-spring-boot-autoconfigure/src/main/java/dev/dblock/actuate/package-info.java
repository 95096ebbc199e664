/**
 * Endpoints and health, with their auto-configuration. Only this package depends on
 * Actuator. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.actuate;

import org.jspecify.annotations.NullMarked;
