package dev.dblock.kotlin

import dev.dblock.LockHandle
import dev.dblock.LockLostException
import dev.dblock.LockOptions
import dev.dblock.LockRefusal
import dev.dblock.LockTemplate
import dev.dblock.LockUnavailableException
import dev.dblock.reactive.LockedCoroutine
import dev.dblock.reactive.ReactiveLockTemplate
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.reactor.ReactorContext
import kotlinx.coroutines.withContext
import reactor.core.Disposable
import reactor.core.publisher.Mono
import reactor.core.publisher.Sinks
import reactor.util.context.Context
import reactor.util.context.ContextView
import kotlin.coroutines.cancellation.CancellationException

/**
 * Executes [block] under a lock, and suspends while it waits for the lock as configured.
 *
 * The lock is released when [block] and the coroutines that it has launched have ended, and before
 * this function returns. If the caller is cancelled, [block] is cancelled, and the lock is released
 * once it has ended. A cancellation during the wait leaves nothing behind.
 *
 * In a coroutine that already works under the same lock, the block shares it (re-entry). Any thread
 * that runs a part of the block works under the lock meanwhile:
 * [LockContext][dev.dblock.LockContext] has its handle, blocking calls such as
 * [LockTemplate.execute] re-enter it, and the transactions that they begin depend on it.
 *
 * @param name the name of the lock
 * @param options how to acquire and hold it. The purpose (`why`) defaults to the name of the coroutine, or
 * to the calling function if it has none. With `whenLost(INTERRUPT)`, [block] is cancelled at the
 * moment of a loss
 * @param unavailable what to do without the lock if it is not available within the wait. By default,
 * throws [LockUnavailableException]
 * @param block the work, which receives the handle of the lock
 * @return the result of [block], or of [unavailable]
 * @throws LockLostException if the lease was lost before the work ended. An exception of the work
 * is among the suppressed exceptions
 * @throws IllegalArgumentException if the name or the options are invalid, or if the template is
 * not one of dblock's, such as a mock
 */
public suspend fun <T> LockTemplate.withLock(
    name: String,
    options: LockOptions = LockOptions.defaults(),
    unavailable: suspend (LockRefusal) -> T = { throw it.toException() },
    block: suspend CoroutineScope.(LockHandle) -> T,
): T {
    val caller = currentCoroutineContext()
    val acquisition = Acquisition()
    acquisition.begin(
        ReactiveLockTemplate.of(this),
        name,
        if (options.why() != null) options else options.why(caller[CoroutineName]?.name ?: callSite()),
        caller[ReactorContext]?.context ?: Context.empty(),
    )
    val granted = acquisition.await()
    return if (granted != null) acquisition.run(granted, block) else unavailable(acquisition.refusal())
}

/**
 * Executes [block] under several locks, all or none, as [LockTemplate.executeAll] does.
 *
 * @param names the names of the locks, in any order. Duplicates count once
 * @param options how to acquire and hold each of them
 * @param unavailable what to do without the locks if one of them is not available within its wait. By
 * default, throws [LockUnavailableException]
 * @param block the work
 * @return the result of [block], or of [unavailable]
 * @throws LockLostException if one of the leases was lost before the work ended
 * @see withLock
 */
public suspend fun <T> LockTemplate.withLocks(
    names: Collection<String>,
    options: LockOptions = LockOptions.defaults(),
    unavailable: suspend (LockRefusal) -> T = { throw it.toException() },
    block: suspend CoroutineScope.() -> T,
): T = forAll(names.associateWith { options }).withLock(names.joinToString(), unavailable = unavailable) { block() }

private val walker = StackWalker.getInstance()

private const val OWN_FRAMES = "dev.dblock.kotlin.WithLockKt"

private val lambda = Regex("(.+?)\\$([^$\\d][^$]*)(\\$\\d+)+")

/**
 * Returns the function that calls [withLock], which does not suspend before, as other code that acquires a
 * lock is described. The class of a suspending lambda is named after the function that contains it.
 */
private fun callSite(): String =
    walker.walk { frames ->
        frames.filter { !it.className.startsWith(OWN_FRAMES) }.findFirst().map {
            val enclosing = if (it.methodName == "invokeSuspend") lambda.matchEntire(it.className) else null
            enclosing?.destructured?.let { (type, function) -> "$type#$function" } ?: "${it.className}#${it.methodName}"
        }.orElse("unknown")
    }

/**
 * The lock of one block, acquired and released by a sequence that ends with the block. The block itself
 * runs in the coroutine of its caller.
 */
private class Acquisition {

    private val blockEnded = Job()

    private val result = Sinks.empty<Any>()

    private val coroutine = LockedCoroutine(blockEnded)

    /** The Reactor context of the block, or `null` if the lock is not available. */
    private val begun = CompletableDeferred<ContextView?>()

    private val ended = CompletableDeferred<Unit>()

    private var refused: LockRefusal? = null

    private lateinit var subscription: Disposable

    fun begin(locks: ReactiveLockTemplate, name: String, options: LockOptions, context: Context) {
        val block = Mono.deferContextual { granted ->
            begun.complete(granted)
            result.asMono()
        }
        val sequence = locks.execute(name, options, { coroutine.sequence(block) }) { refusal ->
            refused = refusal
            begun.complete(null)
            Mono.empty()
        }
        subscription = sequence.contextWrite(context).subscribe(null, ::failed) { ended.complete(Unit) }
    }

    private fun failed(failure: Throwable) {
        begun.completeExceptionally(failure)
        ended.completeExceptionally(failure)
    }

    suspend fun await(): ContextView? =
        try {
            begun.await()
        } catch (failure: Throwable) {
            blockEnded.complete()
            subscription.dispose()
            throw failure
        }

    fun refusal(): LockRefusal = checkNotNull(refused)

    suspend fun <T> run(granted: ContextView, block: suspend CoroutineScope.(LockHandle) -> T): T {
        val outcome = runCatching {
            withContext(ReactorContext(granted) + coroutine) {
                ended.invokeOnCompletion { loss -> loss?.let { cancel(CancellationException(it.message, it)) } }
                block(ReactiveLockTemplate.current(granted).orElseThrow())
            }
        }
        blockEnded.complete()
        val failure = outcome.exceptionOrNull()
        if (failure != null) result.tryEmitError(failure) else result.tryEmitEmpty()
        withContext(NonCancellable) { ended.join() }
        endedWith()?.let { throw it.also { loss -> suppress(loss, failure) } }
        return outcome.getOrThrow()
    }

    private fun endedWith(): Throwable? {
        var failure: Throwable? = null
        ended.invokeOnCompletion { failure = it }
        return failure
    }

    private fun suppress(loss: Throwable, failure: Throwable?) {
        if (failure != null && failure !is CancellationException && failure !== loss && failure !in loss.suppressed) {
            loss.addSuppressed(failure)
        }
    }
}
