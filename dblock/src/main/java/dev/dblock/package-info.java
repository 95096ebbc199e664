/**
 * The API for applications: the annotation, the template, the handle and the exceptions.
 */
@NullMarked
package dev.dblock;

import org.jspecify.annotations.NullMarked;
