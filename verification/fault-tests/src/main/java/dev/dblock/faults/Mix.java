package dev.dblock.faults;

import java.util.List;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Percentages of the types of sections.
 *
 * @param extended sections whose lease is extended
 * @param writing sections that write data
 * @param slowly of the writing sections, those that pause between reading and writing
 * @param paused of the sections that write in a transaction, those that pause before
 * their fence, and again before their commit
 * @param brisk sections that take some milliseconds
 * @param longer sections that take about as long as a lease
 * @param writings the ways of writing data, all equally frequent
 */
@ConfigurationProperties("faults.mix")
record Mix(@DefaultValue("0.1") double extended, @DefaultValue("10") double writing, @DefaultValue("5") double slowly,
		@DefaultValue("10") double paused, @DefaultValue("10") double brisk, @DefaultValue("0.05") double longer,
		@DefaultValue( {
				"UNFENCED", "TOKEN", "TRANSACTION" }) List<Writing> writings){
}
