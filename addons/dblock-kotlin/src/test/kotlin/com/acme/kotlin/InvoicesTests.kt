package com.acme.kotlin

import dev.dblock.test.autoconfigure.AutoConfigureDblock
import dev.dblock.test.autoconfigure.TestLocks
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.context.annotation.Configuration
import org.springframework.context.annotation.Import

@SpringBootTest
@AutoConfigureDblock
class InvoicesTests(
    @Autowired private val locks: TestLocks,
    @Autowired private val invoices: Invoices,
    @Autowired private val orders: Orders,
) {

    @Test
    fun `are written under their lock`() {
        runBlocking { invoices.invoice() }
        locks.assertThat().hasAcquired("nightly-invoices", 1).doesNotHold("nightly-invoices")
    }

    @Test
    fun `are left to the instance that writes them`() {
        locks.holdElsewhere("nightly-invoices")
        runBlocking { invoices.invoice() }
        locks.assertThat().wasRefused("nightly-invoices").hasNotAcquired("nightly-invoices")
    }

    @Test
    fun `orders are settled one after the other`() {
        val order = Order(4711, 100)
        runBlocking {
            assertThat(orders.settle(order)).isEqualTo(Receipt("saved 4711"))
            assertThat(orders.settleAll(listOf(order))).containsExactly(Receipt("saved 4711"))
            assertThat(orders.settleIfFree(order)).isEqualTo(Receipt("saved 4711"))
            locks.holdElsewhere("order-4711")
            assertThat(orders.settleIfFree(order)).isNull()
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Invoices::class, Orders::class, PaperLedger::class)
    internal class Application

    internal class PaperLedger : Ledger {

        override suspend fun close() = Unit

        override suspend fun save(order: Order, token: Long) = Receipt("saved ${order.id}")
    }
}
