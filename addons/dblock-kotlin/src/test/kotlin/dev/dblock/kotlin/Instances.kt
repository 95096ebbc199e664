package dev.dblock.kotlin

import com.mongodb.client.MongoCollection
import dev.dblock.LockTemplate
import dev.dblock.testing.MongoServer
import org.bson.Document
import org.springframework.boot.Banner
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.context.annotation.Configuration
import kotlin.reflect.KClass

/** Instances of applications with one database. */
class Instances(private val server: MongoServer) : AutoCloseable {

    private val database = server.freshDatabase()

    private val started = mutableListOf<ConfigurableApplicationContext>()

    /** The locks of an instance that has nothing else. */
    val other: LockTemplate by lazy { start(Bare::class).getBean(LockTemplate::class.java) }

    fun start(application: KClass<*>, vararg properties: String): ConfigurableApplicationContext =
        SpringApplicationBuilder(application.java)
            .bannerMode(Banner.Mode.OFF)
            .properties("spring.mongodb.uri=${server.uri(database)}", "logging.level.root=WARN", *properties)
            .run()
            .also(started::add)

    fun collection(name: String): MongoCollection<Document> = server.client().getDatabase(database).getCollection(name)

    /** Ends the lease of a lock without the knowledge of its holder. */
    fun expire(lock: String) {
        val past = Document("\$subtract", listOf("\$\$NOW", 1))
        collection("dblock_locks")
            .updateOne(Document("_id", lock), listOf(Document("\$set", Document("expiresAt", past))))
    }

    fun isHeld(lock: String): Boolean = collection("dblock_locks").countDocuments(
        Document("_id", lock).append("holder", Document("\$exists", true)),
    ) > 0

    override fun close() = started.forEach { it.close() }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    internal class Bare
}
