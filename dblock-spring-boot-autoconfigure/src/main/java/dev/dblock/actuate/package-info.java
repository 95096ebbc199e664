/**
 * Endpoints and health. Apart from the auto-configuration, only this package depends on
 * Actuator. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.actuate;

import org.jspecify.annotations.NullMarked;
