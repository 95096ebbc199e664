package dev.dblock.sample.live;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * How the page is fed.
 *
 * @param interval how often an instance tells of itself and looks at the others
 * @param longestWait how long one who asks for the report waits for it at most
 * @param pause how long one is paused: longer than a lease
 * @param history for how long what has happened is kept
 */
@ConfigurationProperties("sample.live")
record LiveSettings(Duration interval, Duration longestWait, Duration pause, Duration history) {
}
