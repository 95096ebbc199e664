package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.LockUnavailableException
import dev.dblock.WhenUnavailable
import dev.dblock.autoconfigure.DblockAopAutoConfiguration
import dev.dblock.autoconfigure.DblockAutoConfiguration
import dev.dblock.annotation.invocation.InvalidLockDeclarationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration
import org.springframework.boot.test.context.FilteredClassLoader
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.stereotype.Service
import reactor.core.publisher.Flux
import reactor.core.publisher.Mono
import java.util.concurrent.CompletableFuture
import kotlin.reflect.KClass

/** What is wrong with a `suspend` function is reported at the start. */
class SuspendFunctionChecksTests {

    private val runner = ApplicationContextRunner()
        .withPropertyValues("dblock.mode=local")
        .withConfiguration(
            AutoConfigurations.of(
                AopAutoConfiguration::class.java,
                DblockAutoConfiguration::class.java,
                DblockAopAutoConfiguration::class.java,
            ),
        )

    private fun problem(type: KClass<*>, vararg missing: String): String? {
        var problem: String? = null
        runner.withClassLoader(FilteredClassLoader(*missing)).withBean(type.java).run { context ->
            problem = generateSequence(context.startupFailure) { it.cause }
                .filterIsInstance<InvalidLockDeclarationException>().firstOrNull()?.message
        }
        return problem
    }

    @Test
    fun `functions that can be locked pass`() {
        assertThat(problem(Sound::class)).isNull()
    }

    @Test
    fun `missing libraries are named`() {
        assertThat(problem(Sound::class, "kotlinx.coroutines.reactor"))
            .contains("SuspendFunctionChecksTests\$Sound#settle(int): is a suspend function")
            .contains("add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor")
        assertThat(problem(Sound::class, "kotlinx.coroutines.reactor", "kotlin.reflect.full"))
            .contains(
                "add the dependency org.jetbrains.kotlin:kotlin-reflect and" +
                    " org.jetbrains.kotlinx:kotlinx-coroutines-reactor",
            )
    }

    @Test
    fun `a result that cannot be null cannot be skipped`() {
        assertThat(problem(SkipsNumber::class)).contains(
            "a skipped call has nothing to return, because the function cannot return null; make its result nullable," +
                " or set whenUnavailable = THROW",
        )
    }

    @Test
    fun `work that continues is refused`() {
        for (type in listOf(ReturnsFlow::class, ReturnsMono::class, ReturnsFlux::class, ReturnsFuture::class)) {
            assertThat(problem(type)).contains("its work continues after the method returns")
                .contains("; remove 'suspend', and the lock is held until the result has ended")
        }
        for (type in listOf(ReturnsDeferred::class, ReturnsSequence::class, ReturnsFlows::class)) {
            assertThat(problem(type)).contains("its work continues after the method returns")
                .contains("; finish the work in the function, or acquire the lock where the work is done")
        }
        assertThat(problem(ReturnsDeferredAtOnce::class)).contains("with the return type kotlinx.coroutines.Deferred ")
        assertThat(problem(ReturnsFlow::class)).contains("with the return type kotlinx.coroutines.flow.Flow ")
    }

    @Test
    fun `names refer to the parameters of the function`() {
        assertThat(problem(UnknownParameter::class)).contains("there is no #order, only #a0, #id, #p0")
        assertThat(problem(Continuation::class)).contains("there is no #a1, only #a0, #id, #p0")
    }

    @Test
    fun `a fallback has the parameters of the function`() {
        assertThat(problem(WrongFallback::class))
            .contains("declare one with the parameters (int), optionally followed by a LockUnavailableException")
            .contains("only with (String)")
        assertThat(problem(WrongResult::class)).contains("returns java.lang.String, but this method returns")
        assertThat(problem(SuspendingFallback::class)).contains("names no method")
    }

    @Service
    class Sound {

        @DistributedLock("order-#{#id}-#{#root.args.length}", fallback = "later")
        suspend fun settle(id: Int): Int = id

        @Suppress("unused")
        private suspend fun later(id: Int, refusal: LockUnavailableException): Int = id + refusal.name().length

        @DistributedLock("report", whenUnavailable = WhenUnavailable.SKIP)
        suspend fun report() {
        }

        @DistributedLock("find", whenUnavailable = WhenUnavailable.SKIP)
        suspend fun find(): Int? = 1
    }

    @Service
    class SkipsNumber {

        @DistributedLock("number", whenUnavailable = WhenUnavailable.SKIP)
        suspend fun number(): Int = 1
    }

    @Service
    class ReturnsDeferred {

        @DistributedLock("deferred")
        suspend fun deferred(): Deferred<Int> = CompletableDeferred(1)
    }

    @Service
    class ReturnsDeferredAtOnce {

        @DistributedLock("deferred")
        fun deferred(): Deferred<Int> = CompletableDeferred(1)
    }

    @Service
    class ReturnsFlow {

        @DistributedLock("flow")
        suspend fun flow(): Flow<Int> = flowOf(1)
    }

    @Service
    class ReturnsFlux {

        @DistributedLock("flux")
        suspend fun flux(): Flux<Int> = Flux.just(1)
    }

    @Service
    class ReturnsFuture {

        @DistributedLock("future")
        suspend fun future(): CompletableFuture<Int> = CompletableFuture.completedFuture(1)
    }

    @Service
    class ReturnsSequence {

        @DistributedLock("sequence")
        suspend fun sequence(): Sequence<Int> = sequenceOf(1)
    }

    @Service
    class ReturnsFlows {

        @DistributedLock("flows")
        suspend fun flows(): List<Flow<Int>> = listOf(flowOf(1))
    }

    @Service
    class ReturnsMono {

        @DistributedLock("mono")
        suspend fun mono(): Mono<Int> = Mono.just(1)
    }

    @Service
    class UnknownParameter {

        @DistributedLock("order-#{#order}")
        suspend fun settle(id: Int): Int = id
    }

    @Service
    class Continuation {

        @DistributedLock("order-#{#a1}")
        suspend fun settle(id: Int): Int = id
    }

    @Service
    class WrongFallback {

        @DistributedLock("order", fallback = "later")
        suspend fun settle(id: Int): Int = id

        @Suppress("unused")
        private suspend fun later(id: String): Int = id.length
    }

    @Service
    class WrongResult {

        @DistributedLock("order", fallback = "later")
        suspend fun settle(id: Int): Int = id

        @Suppress("unused")
        private suspend fun later(id: Int): String = "later $id"
    }

    @Service
    class SuspendingFallback {

        @DistributedLock("order", fallback = "later")
        fun settle(id: Int): Int? = id

        @Suppress("unused")
        private suspend fun later(id: Int): Int? = id
    }
}
