"""The words for what a check found. Tables, views, topics and commands all use these."""

LEDGER_BALANCED = "balanced"
LEDGER_UNBALANCED = "unbalanced"
LEDGER_MISDECLARED = "misdeclared"
LEDGER_INCOMPLETE = "incomplete"

CERTIFICATE_INTACT = "intact"
CERTIFICATE_GENUINE = "genuine"
CERTIFICATE_ALTERED = "altered"
CERTIFICATE_UNKNOWN_ALGORITHM = "unknown algorithm"
CERTIFICATE_GAP = "gap"
CERTIFICATE_FORK = "fork"
CERTIFICATE_REORDERED = "reordered"
