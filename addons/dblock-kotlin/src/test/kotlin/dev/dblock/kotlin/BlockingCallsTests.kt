package dev.dblock.kotlin

import dev.dblock.LockContext
import dev.dblock.LockOptions
import dev.dblock.LockTemplate
import dev.dblock.LockUnavailableException
import dev.dblock.test.autoconfigure.AutoConfigureDblock
import dev.dblock.test.autoconfigure.TestLocks
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.context.annotation.Configuration
import java.io.IOException
import java.util.concurrent.CompletableFuture

/** The blocking template, called as one writes it in Kotlin. */
@SpringBootTest
@AutoConfigureDblock
class BlockingCallsTests(
    @Autowired private val locks: LockTemplate,
    @Autowired private val testLocks: TestLocks,
) {

    private val options = LockOptions.defaults()

    private fun current(): String = LockContext.current().orElseThrow().name()

    @Test
    fun `with a value`() {
        assertThat(locks.execute("a") { current() }).isEqualTo("a")
        assertThat(locks.execute("a", options) { current() }).isEqualTo("a")
        val length: Int = locks.execute("a") { current().length }
        assertThat(length).isOne()
    }

    @Test
    fun `with nothing`() {
        var calls = 0
        locks.execute("a") { calls++ }
        locks.execute("a", options) {
            calls++
            println("In a block whose last line has no value")
        }
        locks.execute("a") { if (calls < 0) calls++ }
        assertThat(calls).isEqualTo(2)
    }

    @Test
    fun `once more at the request of others`() {
        var calls = 0
        assertThat(locks.executeOrRunAgain("a") { calls++ }).isTrue()
        testLocks.holdElsewhere("a").use {
            assertThat(locks.executeOrRunAgain("a", options) { calls++ }).isFalse()
        }
        assertThat(calls).isOne()
    }

    @Test
    fun `with null`() {
        val none: String? = locks.execute("a") { null }
        assertThat(none).isNull()
        val some: String? = locks.execute("a") { current().takeIf { it == "b" } }
        assertThat(some).isNull()
    }

    @Test
    fun `with a checked exception, which passes unchanged`() {
        assertThatExceptionOfType(IOException::class.java)
            .isThrownBy { locks.execute("a") { throw IOException("no bolts") } }
            .withMessage("no bolts")
        testLocks.assertThat().doesNotHold("a")
    }

    @Test
    fun `with a fallback`() {
        testLocks.holdElsewhere("a")
        val answer = locks.execute("a", options, { "unlocked" }) { refusal -> "later, since ${refusal.name()} is held" }
        assertThat(answer).isEqualTo("later, since a is held")
        assertThatExceptionOfType(LockUnavailableException::class.java)
            .isThrownBy { locks.execute("a") { "unlocked" } }
    }

    @Test
    fun `of several locks, of a future, and by hand`() {
        assertThat(locks.executeAll(listOf("a", "b")) { LockContext.current("b").isPresent }).isTrue()
        val future = locks.executeAsync("a") { CompletableFuture.completedFuture(current()) }
        assertThat(future!!.toCompletableFuture().join()).isEqualTo("a")
        locks.acquire("a").use { lock -> assertThat(locks.within(lock) { current() }).isEqualTo("a") }
        testLocks.assertThat().doesNotHold("a").doesNotHold("b")
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    internal class Application
}
