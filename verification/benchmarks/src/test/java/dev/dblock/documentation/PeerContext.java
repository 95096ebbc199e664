package dev.dblock.documentation;

import org.redisson.api.RedissonClient;

/**
 * What the snippets of other libraries use beyond that.
 */
@SuppressWarnings("NullAway.Init")
abstract class PeerContext extends DocumentedContext {

	protected RedissonClient redisson;

}
