/**
 * A check whether a server keeps locks: {@link dev.dblock.test.check.ServerCheck}.
 */
@NullMarked
package dev.dblock.test.check;

import org.jspecify.annotations.NullMarked;
