/**
 * The API for applications: annotations, templates, options, handles and exceptions.
 */
@NullMarked
package dev.dblock;

import org.jspecify.annotations.NullMarked;
