"""The words for the result of a check. Tables, views, topics and commands all use these."""

LEDGER_BALANCED = "balanced"
LEDGER_UNBALANCED = "unbalanced"
"""The counts do not add up."""
LEDGER_MISDECLARED = "misdeclared"
"""The counts add up, and the ledger declares that they do not."""
LEDGER_INCOMPLETE = "incomplete"
"""A count is missing."""

CERTIFICATE_INTACT = "intact"
"""Its own hash is right. How it is linked to other certificates was not checked."""
CERTIFICATE_GENUINE = "genuine"
"""Its own hash is right, and so is its link to the certificate before it."""
CERTIFICATE_ALTERED = "altered"
CERTIFICATE_UNKNOWN_ALGORITHM = "unknown algorithm"
CERTIFICATE_GAP = "gap"
CERTIFICATE_FORK = "fork"
CERTIFICATE_REORDERED = "reordered"
CERTIFICATE_TRUNCATED = "truncated"

HASH_VERDICTS = (CERTIFICATE_ALTERED, CERTIFICATE_UNKNOWN_ALGORITHM, CERTIFICATE_INTACT)
"""The verdicts on a certificate's own hash, the worst first. Of several certificates of a run, the worst counts."""

TEST_FAILED = "failed test"
TEST_NOT_RUN = "test that could not run"
