package dev.dblock.annotation.invocation;

import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.name.LockedMethod;
import org.jspecify.annotations.Nullable;

/**
 * The annotations found for a method, not yet parsed.
 *
 * @param annotations the annotations, merged with the annotations that they are present
 * on
 * @param method the method that they apply to
 * @param contradiction why the declaration is contradictory, or {@code null} if it is not
 */
record LockDeclaration(List<DistributedLock> annotations, LockedMethod method, @Nullable String contradiction) {
}
