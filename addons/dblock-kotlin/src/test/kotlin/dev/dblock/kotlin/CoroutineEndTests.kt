package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.LockContext
import dev.dblock.LockLostException
import dev.dblock.LockTemplate
import dev.dblock.LockUnavailableException
import dev.dblock.WhenLost
import dev.dblock.testing.FailCommand
import dev.dblock.testing.MongoServer
import dev.dblock.testing.MongoServerKind
import dev.dblock.testing.MongoServerTest
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.aopalliance.intercept.MethodInterceptor
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.reactivestreams.Publisher
import org.slf4j.MDC
import org.springframework.aop.Advisor
import org.springframework.aop.support.DefaultPointcutAdvisor
import org.springframework.aop.support.NameMatchMethodPointcut
import org.springframework.beans.factory.config.BeanDefinition
import org.springframework.beans.factory.getBean
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Role
import org.springframework.core.Ordered
import org.springframework.stereotype.Service
import reactor.core.publisher.Mono
import reactor.core.scheduler.Schedulers
import java.time.Duration.ofMillis
import java.time.Duration.ofMinutes
import java.time.Duration.ofSeconds
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext

/** Ends of coroutines under a lock at inconvenient moments. */
@Timeout(180)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class CoroutineEndTests {

    private lateinit var server: MongoServer

    private lateinit var instances: Instances

    private lateinit var stock: Stock

    private lateinit var locks: LockTemplate

    @BeforeEach
    fun start(server: MongoServer) {
        this.server = server
        instances = Instances(server)
        instances.other.acquire("stock").close()
        val context = instances.start(Application::class)
        stock = context.getBean()
        locks = context.getBean()
        locks.acquire("stock").close()
        advice = { it }
    }

    @AfterEach
    fun stop() {
        server.clearFailPoints()
        instances.close()
    }

    private fun isHeld(): Boolean = instances.isHeld("stock")

    private fun awaitFree() =
        await().atMost(ofMinutes(1)).until { instances.other.tryAcquire("stock").map { it.close() }.isPresent }

    private suspend fun <T> underLock(form: String, work: suspend () -> T): T = when (form) {
        "withLock" -> locks.withLock("stock") { work() }
        else -> stock.reserve(work)
    }

    @ParameterizedTest
    @ValueSource(strings = ["annotation", "withLock"])
    fun `cancellation before the answer to an acquire leaves nothing behind`(form: String) {
        val calls = AtomicInteger()
        server.failCommand(FailCommand.on("findAndModify").times(1).blockFor(ofSeconds(6)))
        runBlocking(Dispatchers.Default) {
            val asking = launch { underLock(form) { calls.incrementAndGet() } }
            await().atMost(ofMinutes(1)).during(ofMillis(500)).until { asking.isActive }
            asking.cancelAndJoin()
        }
        awaitFree()
        assertThat(calls).hasValue(0)
    }

    @ParameterizedTest
    @ValueSource(strings = ["annotation", "withLock"])
    fun `cancellation during a release does not stop it`(form: String) {
        server.failCommand(FailCommand.on("update").times(1).blockFor(ofSeconds(1)))
        runBlocking(Dispatchers.Default) {
            val ended = CompletableDeferred<Unit>()
            val working = launch { underLock(form) { ended.complete(Unit) } }
            ended.await()
            working.cancelAndJoin()
            if (form == "withLock") assertThat(isHeld()).isFalse()
        }
        awaitFree()
    }

    @ParameterizedTest
    @ValueSource(strings = ["annotation", "withLock"])
    fun `a timeout inside ends the work, and the lock after it`(form: String) {
        runBlocking(Dispatchers.Default) {
            val failure = runCatching { underLock(form) { withTimeout(50) { awaitCancellation() } } }.exceptionOrNull()
            assertThat(failure).isInstanceOf(TimeoutCancellationException::class.java)
            assertThat(currentCoroutineContext()[Job]!!.isActive).isTrue()
            assertThat(isHeld()).isFalse()
        }
    }

    @OptIn(DelicateCoroutinesApi::class)
    @ParameterizedTest
    @ValueSource(strings = ["annotation", "withLock"])
    fun `a coroutine that outlives the work is not under its lock`(form: String) {
        val escaped = mutableListOf<Deferred<Unit>>()
        val goOn = CompletableDeferred<Unit>()
        val escape: suspend () -> Unit = {
            goOn.await()
            assertThat(LockContext.current()).isEmpty()
            assertThat(runCatching { locks.execute("stock") { } }.exceptionOrNull())
                .isInstanceOf(LockUnavailableException::class.java)
            assertThat(runCatching { underLock(form) { } }.exceptionOrNull())
                .isInstanceOf(LockUnavailableException::class.java)
        }
        runBlocking(Dispatchers.Default) {
            underLock(form) {
                escaped += CoroutineScope(currentCoroutineContext() + Job()).async { escape() }
                escaped += GlobalScope.async(currentCoroutineContext().minusKey(Job)) { escape() }
            }
            assertThat(isHeld()).isFalse()
            instances.other.acquire("stock").use {
                goOn.complete(Unit)
                escaped.forEach { it.await() }
            }
        }
    }

    @OptIn(DelicateCoroutinesApi::class)
    @ParameterizedTest
    @ValueSource(strings = ["annotation", "withLock"])
    fun `a blocking call in a coroutine that outlives the work keeps its lock until it has ended`(form: String) {
        val begun = CompletableDeferred<Unit>()
        val goOn = CountDownLatch(1)
        runBlocking(Dispatchers.Default) {
            lateinit var escaped: Deferred<Long>
            underLock(form) {
                escaped = GlobalScope.async(currentCoroutineContext().minusKey(Job) + Dispatchers.IO) {
                    locks.execute("stock") {
                        begun.complete(Unit)
                        goOn.await()
                        assertThat(isHeld()).isTrue()
                        LockContext.current("stock").orElseThrow().token()
                    }
                }
                begun.await()
            }
            assertThat(isHeld()).isTrue()
            goOn.countDown()
            assertThat(escaped.await()).isPositive()
        }
        assertThat(isHeld()).isFalse()
    }

    @Test
    fun `a loss interrupts what blocks a thread, and only that`() {
        val threads = mutableListOf<Thread>()
        val failure = runCatching {
            runBlocking {
                stock.count {
                    instances.other.forceReleaseNow("count")
                    withContext(Dispatchers.IO) {
                        threads += Thread.currentThread()
                        assertThat(MDC.get("dblock.name")).isEqualTo("count")
                        CountDownLatch(1).await()
                    }
                }
            }
        }.exceptionOrNull()
        assertThat(failure).isInstanceOf(LockLostException::class.java)
        await().atMost(ofMinutes(1)).until { threads.single().state != Thread.State.RUNNABLE }
        assertThat(threads.single().isInterrupted).isFalse()
    }

    @Test
    fun `advice inside of the lock that gives up does not release it before the function has ended`() {
        advice = { it.timeout(ofMillis(100)) }
        runBlocking(Dispatchers.Default) {
            val cleanUp = CompletableDeferred<Unit>()
            val advised = async { runCatching { stock.advised { awaitCancellationUntil(cleanUp) } }.exceptionOrNull() }
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { isHeld() || !advised.isActive }
            assertThat(isHeld()).isTrue()
            cleanUp.complete(Unit)
            assertThat(generateSequence(advised.await()) { it.cause }.toList()).anyMatch { it is TimeoutException }
            assertThat(isHeld()).isFalse()
        }
    }

    @Test
    fun `advice inside of the lock can call the function again`() {
        advice = { it.retry(1) }
        runBlocking(Dispatchers.Default) {
            val attempts = AtomicInteger()
            val begun = CompletableDeferred<Boolean>()
            val cleanUp = CompletableDeferred<Unit>()
            val advised = launch {
                stock.advised {
                    if (attempts.incrementAndGet() == 1) error("try again")
                    yield()
                    begun.complete(LockContext.current("stock").isPresent)
                    awaitCancellationUntil(cleanUp)
                }
            }
            assertThat(begun.await()).isTrue()
            advised.cancelAndJoin()
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { isHeld() }
            cleanUp.complete(Unit)
        }
        awaitFree()
    }

    @Test
    fun `a call of another proxy does not end the coroutine`() {
        runBlocking(Dispatchers.Default) {
            val child = CompletableDeferred<Boolean>()
            val begun = CompletableDeferred<Unit>()
            stock.reserve {
                coroutineScope {
                    launch {
                        begun.await()
                        child.complete(LockContext.current("stock").isPresent)
                    }
                    stock.withoutLock {
                        begun.complete(Unit)
                        child.await()
                    }
                }
            }
            assertThat(child.await()).isTrue()
            assertThat(isHeld()).isFalse()
        }
    }

    @ParameterizedTest
    @ValueSource(strings = ["annotation", "withLock"])
    fun `a lock is kept until a function under another lock has ended`(form: String) {
        runBlocking(Dispatchers.Default) {
            val begun = CompletableDeferred<Unit>()
            val cleanUp = CompletableDeferred<Unit>()
            val working = launch {
                underLock(form) {
                    stock.nested {
                        begun.complete(Unit)
                        awaitCancellationUntil(cleanUp)
                    }
                }
            }
            begun.await()
            working.cancel()
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { isHeld() }
            cleanUp.complete(Unit)
            working.join()
        }
        awaitFree()
    }

    @Test
    fun `a function does not begin if its lock was released as it was about to`() {
        advice = { it.subscribeOn(Schedulers.boundedElastic()) }
        val calls = AtomicInteger()
        lateinit var calling: Job
        val cancelled = CompletableDeferred<Unit>()
        val before = Before {
            val cancelling = thread {
                calling.cancel()
                awaitFree()
                cancelled.complete(Unit)
            }
            // The cancellation interrupts this thread
            while (cancelling.isAlive) runCatching { cancelling.join() }
        }
        runBlocking {
            calling = launch(Dispatchers.Unconfined + before, start = CoroutineStart.LAZY) {
                stock.advised { calls.incrementAndGet() }
            }
            calling.start()
            cancelled.await()
            calling.join()
        }
        await().atMost(ofMinutes(1)).during(ofMillis(200)).until { calls.get() == 0 }
    }

    @Test
    fun `a flow that is left early keeps its lock until it has ended`() {
        runBlocking(Dispatchers.Default) {
            val cleanUp = CompletableDeferred<Unit>()
            assertThat(stock.stream(cleanUp).first()).isEqualTo("bolts")
            await().atMost(ofMinutes(1)).during(ofSeconds(1)).until { isHeld() }
            cleanUp.complete(Unit)
        }
        awaitFree()
    }

    private suspend fun awaitCancellationUntil(cleanUp: Deferred<Unit>): Nothing =
        try {
            awaitCancellation()
        } finally {
            withContext(NonCancellable) { cleanUp.await() }
        }

    /** An action between the check for a cancellation and the beginning of a function in another thread. */
    private class Before(private val action: () -> Unit) :
        AbstractCoroutineContextElement(Key), ThreadContextElement<Unit> {

        private val done = AtomicBoolean()

        override fun updateThreadContext(context: CoroutineContext) {
            if (Thread.currentThread().name.startsWith("boundedElastic") && done.compareAndSet(false, true)) action()
        }

        override fun restoreThreadContext(context: CoroutineContext, oldState: Unit) = Unit

        companion object Key : CoroutineContext.Key<Before>
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    internal class Application {

        @Bean
        fun stock() = Stock()

        /** Inside of the lock. */
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        fun advisor(): Advisor = DefaultPointcutAdvisor(
            NameMatchMethodPointcut().apply { setMappedNames("advised", "withoutLock") },
            MethodInterceptor { advice(Mono.from(it.proceed() as Publisher<*>)) },
        ).apply { order = Ordered.LOWEST_PRECEDENCE }
    }

    @Service
    class Stock {

        @DistributedLock("stock")
        suspend fun <T> reserve(work: suspend () -> T): T = work()

        @DistributedLock("nested")
        suspend fun nested(work: suspend () -> Unit) = work()

        suspend fun <T> withoutLock(work: suspend () -> T): T = work()

        @DistributedLock("stock")
        suspend fun advised(work: suspend () -> Any): Any = work()

        @DistributedLock("stock")
        fun stream(cleanUp: Deferred<Unit>): Flow<String> = flow {
            try {
                emit("bolts")
                awaitCancellation()
            } finally {
                withContext(NonCancellable) { cleanUp.await() }
            }
        }

        @DistributedLock("count", leaseSeconds = 10, whenLost = WhenLost.INTERRUPT)
        suspend fun count(work: suspend () -> Unit) = work()
    }

    private companion object {

        @Volatile
        var advice: (Mono<*>) -> Mono<*> = { it }
    }
}
