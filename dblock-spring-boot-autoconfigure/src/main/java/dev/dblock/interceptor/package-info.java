/**
 * From the annotation to the engine. The only room that knows AOP.
 */
@NullMarked
package dev.dblock.interceptor;

import org.jspecify.annotations.NullMarked;
