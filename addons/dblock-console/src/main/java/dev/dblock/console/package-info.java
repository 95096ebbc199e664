/**
 * The console: a page beside Actuator's endpoints that shows the jobs and the locks of
 * all instances. Internal: can change in any release.
 */
@NullMarked
package dev.dblock.console;

import org.jspecify.annotations.NullMarked;
