package com.acme;

import org.springframework.stereotype.Component;

@Component
class Ledger {

	void close() {
	}

}
