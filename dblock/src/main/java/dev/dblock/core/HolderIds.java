package dev.dblock.core;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Generates random ids, one for each acquisition. Each id is read from the system's
 * generator, so that a process that was copied while it ran (a restored snapshot) does
 * not repeat the ids of its twin.
 */
final class HolderIds {

	private static final int BYTES = 16;

	private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

	private final SecureRandom random = new SecureRandom();

	String next() {
		byte[] bytes = new byte[BYTES];
		this.random.nextBytes(bytes);
		return ENCODER.encodeToString(bytes);
	}

}
