package dev.dblock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.HexFormat;

import org.springframework.util.StringUtils;

/**
 * What an instance is called that was given no name: {@code host:pid:suffix}. The suffix
 * tells apart what has host and pid in common: containers in which every process is the
 * first, and the contexts of one process.
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
		// Known to containers and to Windows; a lookup can take seconds
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
