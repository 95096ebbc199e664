package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.LockContext
import dev.dblock.LockLostException
import dev.dblock.LockTemplate
import dev.dblock.LockUnavailableException
import dev.dblock.WhenLost
import dev.dblock.WhenUnavailable
import dev.dblock.reactive.ReactiveLockTemplate
import dev.dblock.testing.MongoServer
import dev.dblock.testing.MongoServerKind
import dev.dblock.testing.MongoServerTest
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.reactor.awaitSingleOrNull
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.beans.factory.getBean
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.stereotype.Service
import java.time.Duration.ofMinutes
import java.time.Duration.ofSeconds
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger

/** Annotated `suspend` functions. */
@Timeout(180)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class SuspendFunctionTests {

    private lateinit var instances: Instances

    private lateinit var stock: Stock

    private lateinit var till: Till

    private lateinit var locks: LockTemplate

    private lateinit var other: LockTemplate

    @BeforeEach
    fun start(server: MongoServer) {
        instances = Instances(server)
        other = instances.other
        val context = instances.start(Application::class)
        stock = context.getBean()
        till = context.getBean()
        locks = context.getBean()
    }

    @AfterEach
    fun stop() = instances.close()

    private fun isHeld(name: String): Boolean =
        other.tryAcquire(name).map { it.close(); false }.orElse(true)

    private fun awaitFree(name: String) = await().atMost(ofMinutes(1)).until { !isHeld(name) }

    private fun held(): List<String> = listOf("stock-bolts", "till").filter { LockContext.current(it).isPresent }

    @ParameterizedTest
    @ValueSource(strings = ["blocking", "default", "io", "unconfined", "single"])
    fun `holds its lock across suspension points`(dispatcher: String) {
        val single = Executors.newSingleThreadExecutor().asCoroutineDispatcher()
        single.use {
            val seen = mutableListOf<List<String>>()
            val work: suspend () -> String = {
                repeat(3) {
                    seen += held()
                    yield()
                    seen += held()
                    withContext(Dispatchers.IO) { seen += held() }
                    seen += coroutineScope { async(Dispatchers.Default) { held() }.await() }
                }
                assertThat(isHeld("stock-bolts")).isTrue()
                "reserved"
            }
            runBlocking {
                val result = when (dispatcher) {
                    "blocking" -> stock.reserve("bolts", work)
                    else -> withContext(dispatchers(single).getValue(dispatcher)) { stock.reserve("bolts", work) }
                }
                assertThat(result).isEqualTo("reserved")
                assertThat(isHeld("stock-bolts")).isFalse()
                assertThat(held()).isEmpty()
            }
            assertThat(seen).hasSize(12).containsOnly(listOf("stock-bolts"))
        }
    }

    private fun dispatchers(single: CoroutineDispatcher) = mapOf(
        "default" to Dispatchers.Default,
        "io" to Dispatchers.IO,
        "unconfined" to Dispatchers.Unconfined,
        "single" to single,
    )

    @Test
    fun `lock is not that of other work in the same thread`() {
        val single = Executors.newSingleThreadExecutor().asCoroutineDispatcher()
        single.use {
            runBlocking(single) {
                val begun = CompletableDeferred<Unit>()
                val goOn = CompletableDeferred<Unit>()
                val reserving = launch {
                    stock.reserve("bolts") {
                        assertThat(held()).containsExactly("stock-bolts")
                        begun.complete(Unit)
                        goOn.await()
                        assertThat(held()).containsExactly("stock-bolts")
                        "reserved"
                    }
                }
                begun.await()
                assertThat(LockContext.current()).isEmpty()
                goOn.complete(Unit)
                reserving.join()
                assertThat(LockContext.current()).isEmpty()
            }
        }
    }

    @Test
    fun `re-enters its lock after a suspension, in every form`() {
        val result = runBlocking(Dispatchers.Default) {
            stock.reserve("bolts") {
                withContext(Dispatchers.IO) {
                    val token = LockContext.current().orElseThrow().token()
                    val inner = stock.reserve("bolts") {
                        yield()
                        assertThat(LockContext.current().orElseThrow().token()).isEqualTo(token)
                        "inner"
                    }
                    val blocking = blocking("stock-bolts")
                    val template = locks.withLock("stock-bolts") { lock ->
                        assertThat(lock.token()).isEqualTo(token)
                        "template"
                    }
                    val reactive = ReactiveLockTemplate.current().map { it.name() }.awaitSingleOrNull()
                    listOf(inner, blocking, template, reactive).joinToString()
                }
            }
        }
        assertThat(result).isEqualTo("inner, blocking, template, stock-bolts")
        assertThat(isHeld("stock-bolts")).isFalse()
    }

    private fun blocking(name: String): String {
        val lock = locks.asLock(name)
        assertThat(lock.tryLock()).isTrue()
        lock.unlock()
        return "blocking"
    }

    @Test
    fun `works under the locks around it`() {
        runBlocking {
            stock.reserve("bolts") {
                till.settle {
                    yield()
                    assertThat(held()).containsExactly("stock-bolts", "till")
                    assertThat(LockContext.current().orElseThrow().name()).isEqualTo("till")
                    1
                }
                assertThat(LockContext.current().orElseThrow().name()).isEqualTo("stock-bolts")
                "reserved"
            }
        }
    }

    @Test
    fun `cancellation releases the lock when the function has ended`() {
        runBlocking(Dispatchers.Default) {
            val begun = CompletableDeferred<Unit>()
            val cleanUp = CompletableDeferred<Unit>()
            val reserving = launch {
                stock.reserve("bolts") {
                    begun.complete(Unit)
                    try {
                        awaitCancellation()
                    } finally {
                        withContext(NonCancellable) { cleanUp.await() }
                    }
                }
            }
            begun.await()
            reserving.cancelAndJoin()
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { isHeld("stock-bolts") }
            cleanUp.complete(Unit)
            awaitFree("stock-bolts")
        }
    }

    @Test
    fun `cancellation during the wait leaves nothing behind`() {
        val calls = AtomicInteger()
        val held = other.acquire("till")
        runBlocking(Dispatchers.Default) {
            val waiting = launch { till.settle { calls.incrementAndGet() } }
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { waiting.isActive }
            waiting.cancelAndJoin()
            held.close()
            // The cancelled request may still be granted, and is released long before its lease ends
            await().atMost(ofSeconds(20)).until { !isHeld("till") }
            assertThat(till.settle { calls.incrementAndGet() }).isOne()
        }
    }

    @Test
    fun `waits without blocking a thread`() {
        val held = other.acquire("till")
        runBlocking {
            val waiting = async { till.settle { 5 } }
            yield()
            launch { held.close() }
            assertThat(waiting.await()).isEqualTo(5)
        }
    }

    @Test
    fun `a lost lease shows at the end`() {
        assertThatExceptionOfType(LockLostException::class.java).isThrownBy {
            runBlocking {
                stock.reserve("bolts") {
                    other.forceReleaseNow("stock-bolts")
                    other.acquire("stock-bolts").close()
                    yield()
                    "reserved too late"
                }
            }
        }
    }

    @Test
    fun `a lost lease can cancel the function at once`() {
        val ended = CompletableDeferred<Throwable>()
        assertThatExceptionOfType(LockLostException::class.java).isThrownBy {
            runBlocking(Dispatchers.Default) {
                stock.count {
                    other.forceReleaseNow("count")
                    try {
                        awaitCancellation()
                    } catch (failure: Throwable) {
                        ended.complete(failure)
                        throw failure
                    }
                }
            }
        }
        assertThat(runBlocking { ended.await() }).isInstanceOf(kotlinx.coroutines.CancellationException::class.java)
    }

    @Test
    fun `exceptions and null pass`() {
        runBlocking {
            assertThat(till.find { null }).isNull()
            assertThat(till.find { "receipt" }).isEqualTo("receipt")
            assertThatExceptionOfType(java.io.IOException::class.java).isThrownBy {
                runBlocking { stock.reserve("bolts") { throw java.io.IOException("no bolts") } }
            }
            assertThat(isHeld("stock-bolts")).isFalse()
        }
    }

    @Test
    fun `a refusal throws, skips, or is answered by a fallback`() {
        listOf("stock-bolts", "find", "order-4711", "note").forEach { other.acquire(it) }
        runBlocking {
            assertThatExceptionOfType(LockUnavailableException::class.java)
                .isThrownBy { runBlocking { stock.reserve("bolts") { "unlocked" } } }
            assertThat(till.find { "unlocked" }).isNull()
            till.note { error("must not run") }
            assertThat(till.order(4711)).isEqualTo("later 4711, since order-4711 is held")
        }
        other.acquire("order-4712")
        runBlocking { assertThat(till.orderAtOnce(4712)).isEqualTo("not 4712") }
    }

    @Test
    fun `a flow holds its lock while it is collected`() {
        runBlocking {
            val stream = stock.stream()
            assertThat(isHeld("stream")).isFalse()
            assertThat(stream.toList()).containsExactly("stream", "stream")
            assertThat(isHeld("stream")).isFalse()
            assertThat(stream.take(1).toList()).containsExactly("stream")
            awaitFree("stream")
        }
    }

    @Test
    fun `a flow holds its lock until its last element has been collected`() {
        var collected = 0
        runBlocking {
            stock.stream().collect {
                await().atMost(ofSeconds(10)).during(ofSeconds(1)).until { isHeld("stream") }
                collected++
            }
        }
        assertThat(collected).isEqualTo(2)
        assertThat(isHeld("stream")).isFalse()
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    internal class Application {

        @Bean
        fun stock() = Stock()

        @Bean
        fun till(): Till = CornerTill()
    }

    @Service
    class Stock {

        @DistributedLock("stock-#{#item}")
        suspend fun reserve(item: String, work: suspend () -> String): String = work()

        @DistributedLock("count", leaseSeconds = 10, whenLost = WhenLost.INTERRUPT)
        suspend fun count(work: suspend () -> Int): Int = work()

        @DistributedLock("stream")
        fun stream(): Flow<String> = flow {
            repeat(2) {
                emit(LockContext.current().orElseThrow().name())
                yield()
            }
        }
    }

    interface Till {

        @DistributedLock("till", waitSeconds = 120)
        suspend fun settle(work: suspend () -> Int): Int

        @DistributedLock("find", whenUnavailable = WhenUnavailable.SKIP)
        suspend fun find(work: suspend () -> String?): String?

        @DistributedLock("note", whenUnavailable = WhenUnavailable.SKIP)
        suspend fun note(work: suspend () -> Unit)

        suspend fun order(id: Int): String

        suspend fun orderAtOnce(id: Int): String
    }

    @Service
    class CornerTill : Till {

        override suspend fun settle(work: suspend () -> Int): Int = work()

        override suspend fun find(work: suspend () -> String?): String? = work()

        override suspend fun note(work: suspend () -> Unit) = work()

        @DistributedLock("order-#{#id}", fallback = "later")
        override suspend fun order(id: Int): String = "settled $id"

        @Suppress("unused")
        private suspend fun later(id: Int, refusal: LockUnavailableException): String {
            yield()
            return "later $id, since ${refusal.name()} is held"
        }

        @DistributedLock("order-#{#a0}", fallback = "not")
        override suspend fun orderAtOnce(id: Int): String = "settled $id"

        @Suppress("unused")
        private fun not(id: Int): String = "not $id"
    }
}
