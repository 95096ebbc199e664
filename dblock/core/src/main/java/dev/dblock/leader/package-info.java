/**
 * Leader election: one instance of the application does something for as long as it runs.
 */
@NullMarked
package dev.dblock.leader;

import org.jspecify.annotations.NullMarked;
