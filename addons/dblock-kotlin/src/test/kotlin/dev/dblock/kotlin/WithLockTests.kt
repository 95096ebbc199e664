package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.LockContext
import dev.dblock.LockLostException
import dev.dblock.LockOptions
import dev.dblock.LockTemplate
import dev.dblock.LockUnavailableException
import dev.dblock.WhenLost
import dev.dblock.testing.MongoServer
import dev.dblock.testing.MongoServerKind
import dev.dblock.testing.MongoServerTest
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.assertj.core.api.Assertions.assertThatIllegalArgumentException
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.beans.factory.getBean
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.stereotype.Service
import java.io.IOException
import java.time.Duration.ofMinutes
import java.time.Duration.ofSeconds
import java.util.concurrent.atomic.AtomicInteger

/** The suspending `withLock`. */
@Timeout(180)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class WithLockTests {

    private lateinit var instances: Instances

    private lateinit var locks: LockTemplate

    private lateinit var other: LockTemplate

    private lateinit var stock: Stock

    @BeforeEach
    fun start(server: MongoServer) {
        instances = Instances(server)
        other = instances.other
        val context = instances.start(Application::class)
        locks = context.getBean()
        stock = context.getBean()
    }

    @AfterEach
    fun stop() = instances.close()

    private fun isHeld(name: String): Boolean = instances.isHeld(name)

    private fun current(): String? = LockContext.current().map { it.name() }.orElse(null)

    @Test
    fun `holds the lock until the block has ended`() {
        for (dispatcher in listOf(Dispatchers.Default, Dispatchers.IO, Dispatchers.Unconfined)) {
            runBlocking(dispatcher) {
                val seen = mutableListOf(current())
                val result = locks.withLock("stock") { lock ->
                    assertThat(lock.name()).isEqualTo("stock")
                    seen += current()
                    yield()
                    withContext(Dispatchers.IO) { seen += current() }
                    yield()
                    seen += current()
                    assertThat(other.tryAcquire("stock")).isEmpty()
                    "reserved"
                }
                assertThat(result).isEqualTo("reserved")
                seen += current()
                assertThat(seen).containsExactly(null, "stock", "stock", "stock", null)
                assertThat(isHeld("stock")).isFalse()
            }
        }
    }

    @Test
    fun `returns null and nothing, and passes exceptions`() {
        runBlocking {
            val none: String? = locks.withLock("stock") { null }
            assertThat(none).isNull()
            val nothing: Unit = locks.withLock("stock") { }
            assertThat(nothing).isEqualTo(Unit)
            val failure = runCatching { locks.withLock("stock") { throw IOException("no bolts") } }.exceptionOrNull()
            assertThat(failure).isInstanceOf(IOException::class.java).hasMessage("no bolts")
            assertThat(isHeld("stock")).isFalse()
        }
    }

    @Test
    fun `excludes other coroutines and instances`() {
        val inside = AtomicInteger()
        val most = AtomicInteger()
        val patient = LockOptions.defaults().waitUpTo(ofMinutes(2))
        runBlocking(Dispatchers.Default) {
            List(20) { number ->
                async {
                    (if (number % 2 == 0) locks else other).withLock("stock", patient) {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max)
                        yield()
                        inside.decrementAndGet()
                    }
                }
            }.awaitAll()
        }
        assertThat(most).hasValue(1)
    }

    @Test
    fun `re-enters, with the annotation in both directions`() {
        runBlocking(Dispatchers.Default) {
            locks.withLock("stock") { outer ->
                yield()
                assertThat(locks.withLock("stock") { it.token() }).isEqualTo(outer.token())
                assertThat(stock.token()).isEqualTo(outer.token())
                assertThat(isHeld("stock")).isTrue()
            }
            assertThat(isHeld("stock")).isFalse()
        }
    }

    @Test
    fun `waits for the coroutines that the block launches`() {
        runBlocking(Dispatchers.Default) {
            val held = CompletableDeferred<Boolean>()
            locks.withLock("stock") {
                launch {
                    yield()
                    held.complete(isHeld("stock") && current() == "stock")
                }
            }
            assertThat(held.await()).isTrue()
            assertThat(isHeld("stock")).isFalse()
        }
    }

    @Test
    fun `cancellation cancels the block and releases the lock after it`() {
        runBlocking(Dispatchers.Default) {
            val begun = CompletableDeferred<Unit>()
            val heldAtEnd = CompletableDeferred<Boolean>()
            val working = launch {
                locks.withLock("stock") {
                    begun.complete(Unit)
                    try {
                        awaitCancellation()
                    } finally {
                        withContext(NonCancellable) {
                            yield()
                            heldAtEnd.complete(isHeld("stock"))
                        }
                    }
                }
            }
            begun.await()
            working.cancelAndJoin()
            assertThat(heldAtEnd.await()).isTrue()
            assertThat(isHeld("stock")).isFalse()
        }
    }

    @Test
    fun `cancellation during the wait leaves nothing behind`() {
        val held = other.acquire("stock")
        runBlocking(Dispatchers.Default) {
            val calls = AtomicInteger()
            val waiting = launch {
                locks.withLock("stock", LockOptions.defaults().waitUpTo(ofMinutes(2))) { calls.incrementAndGet() }
            }
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { waiting.isActive }
            waiting.cancelAndJoin()
            held.close()
            await().atMost(ofMinutes(1)).until { other.tryAcquire("stock").map { it.close() }.isPresent }
            assertThat(calls).hasValue(0)
        }
    }

    @Test
    fun `a timeout is a cancellation`() {
        runBlocking {
            val result: String? = withTimeoutOrNull(1000) { locks.withLock("stock") { awaitCancellation() } }
            assertThat(result).isNull()
            await().atMost(ofMinutes(1)).until { !isHeld("stock") }
        }
    }

    @Test
    fun `an unavailable lock throws, or is answered otherwise`() {
        other.acquire("stock", LockOptions.defaults().why("the stocktaking"))
        runBlocking {
            assertThatExceptionOfType(LockUnavailableException::class.java)
                .isThrownBy { runBlocking { locks.withLock("stock") { "unlocked" } } }
                .withMessageContaining("the stocktaking")
            val answer = locks.withLock("stock", unavailable = { "later, since ${it.name()} is held" }) { "unlocked" }
            assertThat(answer).isEqualTo("later, since stock is held")
        }
    }

    @Test
    fun `a lost lease shows at the end, before the failure of the block`() {
        runBlocking {
            val lost = runCatching {
                locks.withLock("stock") {
                    other.forceReleaseNow("stock")
                    throw IOException("no bolts")
                }
            }.exceptionOrNull()
            assertThat(lost).isInstanceOf(LockLostException::class.java)
            assertThat(lost!!.suppressed).anyMatch { it is IOException }
        }
    }

    @Test
    fun `a lost lease can cancel the block at once`() {
        val options = LockOptions.lease(ofSeconds(10)).whenLost(WhenLost.INTERRUPT)
        runBlocking(Dispatchers.Default) {
            val seen = CompletableDeferred<Throwable>()
            val lost = runCatching {
                locks.withLock("stock", options) {
                    other.forceReleaseNow("stock")
                    try {
                        awaitCancellation()
                    } catch (failure: CancellationException) {
                        seen.complete(failure)
                        throw failure
                    }
                }
            }.exceptionOrNull()
            assertThat(lost).isInstanceOf(LockLostException::class.java)
            assertThat(seen.await()).isInstanceOf(CancellationException::class.java)
                .hasRootCauseInstanceOf(LockLostException::class.java)
            assertThat(coroutineContext[kotlinx.coroutines.Job]!!.isActive).isTrue()
        }
    }

    @Test
    fun `takes several locks, all or none`() {
        runBlocking {
            val names = locks.withLocks(listOf("stock", "till")) {
                yield()
                listOf("stock", "till").filter { LockContext.current(it).isPresent && isHeld(it) }
            }
            assertThat(names).containsExactly("stock", "till")
            other.acquire("till")
            assertThat(locks.withLocks(listOf("stock", "till"), unavailable = { it.name() }) { "unlocked" })
                .isEqualTo("till")
            assertThat(isHeld("stock")).isFalse()
        }
    }

    @Test
    fun `shows the name of the coroutine to those who find the lock held`() {
        runBlocking {
            withContext(CoroutineName("stocktaking")) {
                locks.withLock("stock") {
                    assertThat(other.inspect("stock").orElseThrow().why()).isEqualTo("stocktaking")
                }
            }
        }
    }

    @Test
    fun `shows the calling function of a coroutine without a name`() {
        val here = WithLockTests::class.java.name
        val function = "shows the calling function of a coroutine without a name"
        val why = { name: String -> other.inspect(name).orElseThrow().why() }
        runBlocking {
            locks.withLock("stock") { assertThat(why("stock")).isEqualTo("$here#$function") }
            withContext(Dispatchers.Default) {
                yield()
                async { locks.withLock("stock") { assertThat(why("stock")).isEqualTo("$here#$function") } }.await()
            }
            locks.withLocks(listOf("stock", "till")) { assertThat(why("till")).isEqualTo("$here#$function") }
            assertThat(counted(why)).isEqualTo("$here#counted")
            assertThat(Till(locks).counted(why)).isEqualTo("${Till::class.java.name}#counted")
            val options = LockOptions.defaults().why("the stocktaking")
            locks.withLock("stock", options) { assertThat(why("stock")).isEqualTo("the stocktaking") }
        }
    }

    private suspend fun counted(why: (String) -> String?): String? {
        yield()
        return locks.withLock("stock") { why("stock") }
    }

    private class Till(private val locks: LockTemplate) {

        suspend fun counted(why: (String) -> String?): String? =
            coroutineScope { launch { yield() }.join().let { locks.withLock("till") { why("till") } } }
    }

    @Test
    fun `rejects an invalid name before anything else`() {
        assertThatIllegalArgumentException().isThrownBy { runBlocking { locks.withLock(" ") { } } }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    internal class Application {

        @Bean
        fun stock(locks: LockTemplate) = Stock(locks)
    }

    @Service
    class Stock(private val locks: LockTemplate) {

        @DistributedLock("stock")
        suspend fun token(): Long {
            yield()
            return locks.withLock("stock") { it.token() }
        }
    }
}
