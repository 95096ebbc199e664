package dev.dblock.annotation.invocation;

import java.util.List;

import dev.dblock.DistributedLock;
import dev.dblock.annotation.name.LockedMethod;
import org.jspecify.annotations.Nullable;

/**
 * What was found on a method, not yet looked into.
 *
 * @param annotations the annotations, merged with those that they stand on
 * @param method the method that they apply to
 * @param contradiction why they cannot be meant, if they cannot
 */
public record LockDeclaration(List<DistributedLock> annotations, LockedMethod method, @Nullable String contradiction) {
}
