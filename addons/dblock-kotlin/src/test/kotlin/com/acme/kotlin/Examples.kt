package com.acme.kotlin

import dev.dblock.DistributedLock
import dev.dblock.LockContext
import dev.dblock.LockOptions
import dev.dblock.LockTemplate
import dev.dblock.LockUnavailableException
import dev.dblock.kotlin.withLock
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import org.springframework.scheduling.annotation.Scheduled
import org.springframework.stereotype.Component
import org.springframework.stereotype.Service
import java.time.Duration.ofSeconds

// What the Kotlin examples of the documentation show.

data class Order(val id: Long, val total: Int)

data class Receipt(val text: String)

interface Ledger {

    suspend fun close()

    suspend fun save(order: Order, token: Long): Receipt
}

@Component
class Invoices(private val ledger: Ledger) {

    @Scheduled(cron = "0 0 2 * * *")
    @DistributedLock("nightly-invoices", leaseSeconds = 60)
    suspend fun invoice() {
        ledger.close()
    }
}

@Service
class Orders(private val ledger: Ledger, private val lockTemplate: LockTemplate) {

    @DistributedLock("order-#{#order.id}", waitSeconds = 5, fallback = "later")
    suspend fun settle(order: Order): Receipt = withContext(Dispatchers.IO) {
        ledger.save(order, LockContext.current().orElseThrow().token())
    }

    @Suppress("unused")
    private suspend fun later(order: Order, refusal: LockUnavailableException): Receipt =
        Receipt("order ${order.id} is settled by ${refusal.holder()?.acquirer() ?: "another instance"}")

    suspend fun settleAll(orders: List<Order>): List<Receipt> =
        lockTemplate.withLock("orders", LockOptions.defaults().waitUpTo(ofSeconds(5))) { lock ->
            orders.map { ledger.save(it, lock.token()) }
        }

    suspend fun settleIfFree(order: Order): Receipt? =
        lockTemplate.withLock("order-${order.id}", unavailable = { null }) { lock ->
            ledger.save(order, lock.token())
        }
}
