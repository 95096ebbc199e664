/**
 * Support for locks in the tests of an application.
 */
@NullMarked
package dev.dblock.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
