/**
 * Billing that must not happen twice: orders, the invoice run, the accounts and the
 * report.
 */
@NullMarked
package dev.dblock.sample.billing;

import org.jspecify.annotations.NullMarked;
