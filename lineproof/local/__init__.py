"""Everything that runs on this machine: embedded broker, Java, JARs, `up` and `down`."""
