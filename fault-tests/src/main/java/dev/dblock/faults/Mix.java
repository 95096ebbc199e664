package dev.dblock.faults;

import java.util.List;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Of how many sections in a hundred are what.
 *
 * @param extended those whose lease is extended
 * @param writing those that write data
 * @param slowly of those that write, those that take their time between reading and
 * writing
 * @param paused of those that write in a transaction, those that take their time before
 * their fence, and again before their commit
 * @param brisk those that take some milliseconds
 * @param longer those that take about as long as a lease
 * @param writings how data is written, each as often as the others
 */
@ConfigurationProperties("faults.mix")
record Mix(@DefaultValue("0.1") double extended, @DefaultValue("10") double writing, @DefaultValue("5") double slowly,
		@DefaultValue("10") double paused, @DefaultValue("10") double brisk, @DefaultValue("0.05") double longer,
		@DefaultValue( {
				"UNFENCED", "TOKEN", "TRANSACTION" }) List<Writing> writings){
}
