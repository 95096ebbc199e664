/**
 * The interface between the templates and the engine. Internal: can change in any
 * release. To support another store, see {@code dev.dblock.store}.
 */
@NullMarked
package dev.dblock.engine;

import org.jspecify.annotations.NullMarked;
