/**
 * What applications import: the annotation, the template, the handle and the exceptions.
 */
@NullMarked
package dev.dblock;

import org.jspecify.annotations.NullMarked;
