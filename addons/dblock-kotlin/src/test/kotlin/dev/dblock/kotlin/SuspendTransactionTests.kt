package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.LockLostException
import dev.dblock.LockTemplate
import dev.dblock.testing.MongoServer
import dev.dblock.testing.MongoServerKind
import dev.dblock.testing.MongoServerTest
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.bson.Document
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.extension.ExtendWith
import org.springframework.beans.factory.getBean
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.test.system.CapturedOutput
import org.springframework.boot.test.system.OutputCaptureExtension
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.data.mongodb.MongoDatabaseFactory
import org.springframework.data.mongodb.MongoTransactionManager
import org.springframework.data.mongodb.ReactiveMongoDatabaseFactory
import org.springframework.data.mongodb.ReactiveMongoTransactionManager
import org.springframework.data.mongodb.core.MongoTemplate
import org.springframework.data.mongodb.core.ReactiveMongoTemplate
import org.springframework.stereotype.Service
import org.springframework.transaction.annotation.EnableTransactionManagement
import org.springframework.transaction.annotation.Transactional
import org.springframework.transaction.reactive.TransactionalOperator
import org.springframework.transaction.reactive.executeAndAwait
import org.springframework.transaction.support.TransactionTemplate

/** Transactions of `suspend` functions under a lock that another instance takes over. */
@Timeout(180)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
@ExtendWith(OutputCaptureExtension::class)
class SuspendTransactionTests {

    private lateinit var instances: Instances

    private lateinit var context: ConfigurableApplicationContext

    private lateinit var stock: Stock

    @BeforeEach
    fun start(server: MongoServer) {
        instances = Instances(server)
        context = instances.start(Application::class)
        stock = context.getBean()
        instances.collection("orders").insertOne(Document("_id", "first"))
    }

    @AfterEach
    fun stop() = instances.close()

    private fun overtake() {
        instances.expire("stock")
        instances.other.acquire("stock")
    }

    private fun orders(): Long = instances.collection("orders").countDocuments(Document("_id", Document("\$ne", "first")))

    private fun assertCommitted(way: suspend (beforeCommit: () -> Unit) -> Unit) {
        runBlocking { way { } }
        assertThat(orders()).isOne()
    }

    private fun assertLost(way: suspend (beforeCommit: () -> Unit) -> Unit) {
        val failure = runCatching { runBlocking { way(::overtake) } }.exceptionOrNull()
        assertThat(failure).isInstanceOf(LockLostException::class.java)
        assertThat(orders()).isZero()
    }

    @Test
    fun `a transactional function commits under its lock`() = assertCommitted { stock.orderInTransaction(it) }

    @Test
    fun `a transactional function is not committed after a take-over`() = assertLost { stock.orderInTransaction(it) }

    @Test
    fun `a transactional function that a locked one calls is not committed after a take-over`() =
        assertLost { beforeCommit -> stock.locked { context.getBean<Orders>().order(beforeCommit) } }

    @Test
    fun `a transactional operator is not committed after a take-over`() = assertLost { beforeCommit ->
        stock.locked { context.getBean<TransactionalOperator>().executeAndAwait { insert(beforeCommit) } }
    }

    @Test
    fun `a blocking transaction commits under the lock of the coroutine`() =
        assertCommitted { beforeCommit -> stock.locked { orderBlocking(beforeCommit) } }

    @Test
    fun `a blocking transaction is not committed after a take-over`() =
        assertLost { beforeCommit -> stock.locked { orderBlocking(beforeCommit) } }

    @Test
    fun `a blocking transaction in withLock is not committed after a take-over`() = assertLost { beforeCommit ->
        context.getBean<LockTemplate>().withLock("stock") { orderBlocking(beforeCommit) }
    }

    private suspend fun orderBlocking(beforeCommit: () -> Unit) = withContext(Dispatchers.IO) {
        TransactionTemplate(context.getBean<MongoTransactionManager>()).executeWithoutResult {
            context.getBean<MongoTemplate>().insert(Document(), "orders")
            beforeCommit()
        }
    }

    private suspend fun insert(beforeCommit: () -> Unit) {
        context.getBean<ReactiveMongoTemplate>().insert(Document(), "orders").awaitSingle()
        yield()
        beforeCommit()
    }

    @Test
    fun `a transaction that would end before the function is reported at the start`(output: CapturedOutput) {
        instances.start(Blocking::class, "logging.level.dev.dblock=WARN")
        assertThat(output).contains(
            "SuspendTransactionTests\$TransactionalStock#order() is a suspend function, but its transaction manager" +
                " (the bean 'transactionManager') is not reactive",
        )
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableTransactionManagement
    internal class Application {

        @Bean
        fun stock(mongo: ReactiveMongoTemplate) = Stock(mongo)

        @Bean
        fun orders(mongo: ReactiveMongoTemplate) = Orders(mongo)

        @Bean
        fun reactiveTransactionManager(factory: ReactiveMongoDatabaseFactory) = ReactiveMongoTransactionManager(factory)

        @Bean
        fun operator(manager: ReactiveMongoTransactionManager) = TransactionalOperator.create(manager)

        @Bean
        fun blockingTransactionManager(factory: MongoDatabaseFactory) = MongoTransactionManager(factory)
    }

    @Service
    class Stock(private val mongo: ReactiveMongoTemplate) {

        @DistributedLock("stock", leaseSeconds = 600)
        @Transactional("reactiveTransactionManager")
        suspend fun orderInTransaction(beforeCommit: () -> Unit) {
            mongo.insert(Document(), "orders").awaitSingle()
            yield()
            beforeCommit()
        }

        @DistributedLock("stock", leaseSeconds = 600)
        suspend fun locked(work: suspend () -> Unit) = work()
    }

    @Service
    class Orders(private val mongo: ReactiveMongoTemplate) {

        @Transactional("reactiveTransactionManager")
        suspend fun order(beforeCommit: () -> Unit) {
            mongo.insert(Document(), "orders").awaitSingle()
            beforeCommit()
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableTransactionManagement
    internal class Blocking {

        @Bean
        fun stock() = TransactionalStock()

        @Bean
        fun transactionManager(factory: MongoDatabaseFactory) = MongoTransactionManager(factory)
    }

    @Service
    class TransactionalStock {

        @DistributedLock("stock")
        @Transactional
        suspend fun order() {
        }
    }
}
