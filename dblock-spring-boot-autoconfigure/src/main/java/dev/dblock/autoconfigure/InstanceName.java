package dev.dblock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.HexFormat;

import org.springframework.util.StringUtils;

/**
 * Default name of an instance: {@code host:pid:suffix}. The suffix distinguishes
 * instances with the same host and process id: containers whose processes all have the id
 * 1, and contexts of the same process.
 */
final class InstanceName {

	private InstanceName() {
	}

	static String create() {
		byte[] suffix = new byte[4];
		new SecureRandom().nextBytes(suffix);
		return "%s:%d:%s".formatted(host(), ProcessHandle.current().pid(), HexFormat.of().formatHex(suffix));
	}

	private static String host() {
		// Set in containers and on Windows; a lookup can take seconds
		for (String variable : new String[] { "HOSTNAME", "COMPUTERNAME" }) {
			String host = System.getenv(variable);
			if (StringUtils.hasText(host)) {
				return host;
			}
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown-host";
		}
	}

}
