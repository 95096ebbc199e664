package dev.dblock.sample.live;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of the live page.
 *
 * @param interval how often an instance reports its state and reads that of the others
 * @param longestWait how long a command for the report waits for its lock at most
 * @param pause how long an instance is paused: longer than a lease
 * @param history how long events are kept
 */
@ConfigurationProperties("sample.live")
record LiveSettings(Duration interval, Duration longestWait, Duration pause, Duration history) {
}
