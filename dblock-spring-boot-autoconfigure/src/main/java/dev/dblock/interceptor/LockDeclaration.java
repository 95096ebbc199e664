package dev.dblock.interceptor;

import dev.dblock.DistributedLock;

/**
 * What was found on a method, not yet looked into.
 *
 * @param annotation the annotation, merged with those that it stands on
 * @param method the method that it applies to
 */
record LockDeclaration(DistributedLock annotation, LockedMethod method) {
}
