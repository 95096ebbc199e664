package dev.dblock.annotation;

import java.util.ArrayList;
import java.util.List;

import org.springframework.util.ClassUtils;

/**
 * Explains why an application has no lock engine. Without the libraries, or without
 * dblock's auto-configuration, none of dblock's properties has an effect.
 */
final class MissingEngine {

	private static final String AUTO_CONFIGURATION = "dev.dblock.autoconfigure.DblockAutoConfiguration";

	private MissingEngine() {
	}

	static String remedy() {
		if (!ClassUtils.isPresent(AUTO_CONFIGURATION, null)) {
			return "declare one, such as a DefaultLockEngine, beside @EnableDistributedLocks";
		}
		List<String> missing = new ArrayList<>();
		addIfMissing(missing, "com.mongodb.client.MongoClient", "MongoDB driver (org.mongodb:mongodb-driver-sync)");
		addIfMissing(missing, "org.springframework.data.mongodb.MongoDatabaseFactory",
				"Spring Data MongoDB (org.springframework.data:spring-data-mongodb)");
		return missing.isEmpty()
				? "DblockAutoConfiguration, which provides one, is excluded or not imported; include it, with"
						+ " dblock.mode=none if the methods should run unlocked"
				: ("there is no %s on the class path, so dblock is not configured at all; add what is missing, for"
						+ " example with spring-boot-starter-data-mongodb")
					.formatted(String.join(", and no ", missing));
	}

	// As in the conditions of the auto-configuration, which use the application's class
	// loader
	private static void addIfMissing(List<String> missing, String type, String library) {
		if (!ClassUtils.isPresent(type, null)) {
			missing.add(library);
		}
	}

}
