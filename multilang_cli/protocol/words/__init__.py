"""Plain frozen values that all of the protocol shares: messages, events, profiles, rules, findings."""
