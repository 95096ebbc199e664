package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.job.JobOperations
import dev.dblock.job.JobRun
import dev.dblock.testing.MongoServer
import dev.dblock.testing.MongoServerKind
import dev.dblock.testing.MongoServerTest
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.beans.factory.getBean
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.scheduling.annotation.EnableScheduling
import org.springframework.scheduling.annotation.Scheduled
import org.springframework.stereotype.Component
import java.time.Duration
import java.time.Duration.ofMinutes
import java.util.concurrent.CopyOnWriteArrayList

/** Scheduled `suspend` functions of three instances. */
@Timeout(300)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class SuspendJobTests {

    @Test
    fun `each planned time runs once`(server: MongoServer) {
        cron.clear()
        pauses.clear()
        Instances(server).use { instances ->
            val started = List(3) { instances.start(Application::class, "spring.task.scheduling.pool.size=4") }
            await().atMost(ofMinutes(2)).until { cron.size >= PLANNED_TIMES && pauses.size >= PLANNED_TIMES }
            assertThat(started.first().getBean<JobOperations>().list()).extracting<String> { it.lock() }
                .contains("cron", "delay")
        }
        for (runs in listOf(cron, pauses)) {
            assertThat(runs).extracting<Any>(JobRun::plannedAt).doesNotHaveDuplicates().isSorted()
            assertThat(runs).allMatch { it.attempt() == 1 }
        }
        assertThat(cron).allMatch { it.plannedAt()!!.nano == 0 }
        pauses.zipWithNext { run, next ->
            assertThat(Duration.between(run.startedAt(), next.startedAt())).isGreaterThanOrEqualTo(Duration.ofMillis(450))
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableScheduling
    internal class Application {

        @Bean
        fun jobs() = Jobs()
    }

    @Component
    class Jobs {

        @Scheduled(cron = "* * * * * *")
        @DistributedLock("cron")
        suspend fun cron() {
            withContext(Dispatchers.IO) { cron += JobRun.current().orElseThrow() }
        }

        @Scheduled(fixedDelay = 400)
        @DistributedLock("delay")
        suspend fun pauses() {
            delay(50)
            pauses += JobRun.current().orElseThrow()
        }
    }

    private companion object {

        const val PLANNED_TIMES = 6

        val cron = CopyOnWriteArrayList<JobRun>()

        val pauses = CopyOnWriteArrayList<JobRun>()
    }
}
