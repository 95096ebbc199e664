package dev.dblock;

/**
 * What is put before the names of locks, as far as it depends on the call: the tenant of
 * the current thread, for example, so that tenants do not wait for each other.
 *
 * <pre class="code">
 * &#64;Bean
 * LockNamePrefix tenantPrefix() {
 *     return (name) -&gt; name.startsWith("global-") ? "" : Tenant.current() + ":";
 * }
 * </pre>
 *
 * Beans of this type are found; several are put one after the other, in their order, and
 * all of them after {@code dblock.name-prefix}. What they say belongs to the name as the
 * server, the log and the endpoint have it.
 */
@FunctionalInterface
public interface LockNamePrefix {

	/**
	 * The prefix for a call. Asked for in the thread that asks for the lock, more than
	 * once for some calls, and never at start-up.
	 * @param name the name of the lock as the application says it
	 * @return the prefix; empty for none. What is thrown goes to the caller, who gets no
	 * lock
	 */
	String prefixOf(String name);

}
