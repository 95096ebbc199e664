/**
 * An application as it uses ShedLock, which knows nothing of dblock.
 */
package com.example.invoices;
