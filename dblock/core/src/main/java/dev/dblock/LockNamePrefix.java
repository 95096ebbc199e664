package dev.dblock;

/**
 * Prefix of lock names that depends on the call, for example on the tenant of the current
 * thread, so that tenants do not wait for each other.
 *
 * <pre class="code">
 * &#64;Bean
 * LockNamePrefix tenantPrefix() {
 *     return (name) -&gt; name.startsWith("global-") ? "" : Tenant.current() + ":";
 * }
 * </pre>
 *
 * Beans of this type are detected. Several prefixes are joined in the order of their
 * beans, and follow {@code dblock.name-prefix}. They are part of the name in the server,
 * the log and the endpoint.
 */
@FunctionalInterface
public interface LockNamePrefix {

	/**
	 * Return the prefix for a call. This method is called in the thread that requests the
	 * lock, or that subscribes to a reactive type or flow, more than once for some calls,
	 * and never at startup.
	 * @param name the name of the lock as used by the application
	 * @return the prefix; empty for none. An exception is passed on to the caller, and
	 * the lock is not acquired
	 */
	String prefixOf(String name);

}
