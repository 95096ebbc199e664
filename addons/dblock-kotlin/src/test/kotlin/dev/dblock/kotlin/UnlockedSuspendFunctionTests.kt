package dev.dblock.kotlin

import dev.dblock.DistributedLock
import dev.dblock.job.RunsOnEveryInstance
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.ExtendWith
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.boot.test.system.CapturedOutput
import org.springframework.boot.test.system.OutputCaptureExtension
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.scheduling.annotation.EnableScheduling
import org.springframework.scheduling.annotation.Scheduled
import org.springframework.stereotype.Component

/** Scheduled `suspend` functions that every instance runs. */
@ExtendWith(OutputCaptureExtension::class)
class UnlockedSuspendFunctionTests {

    @Test
    fun `functions without a lock are reported`(output: CapturedOutput) {
        SpringApplicationBuilder(Application::class.java).web(WebApplicationType.NONE)
            .run("--dblock.mode=local").close()
        assertThat(output.all.lines().filter { "every instance runs" in it }).singleElement().asString()
            .contains("every instance runs ${Jobs::class.java.name}#purge. Add it")
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

        @Scheduled(cron = "0 0 0 29 2 *")
        @DistributedLock("nightly")
        suspend fun nightly() = Unit

        @Scheduled(fixedRate = 1_000_000_000, initialDelay = 1_000_000_000)
        suspend fun purge() = Unit

        @Scheduled(fixedRate = 1_000_000_000, initialDelay = 1_000_000_000)
        @RunsOnEveryInstance
        suspend fun refresh() = Unit
    }
}
