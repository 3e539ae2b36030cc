"""What to do about a violation, in plain words, by its kind and verdict."""

from lineproof.schemas.verdicts import (
    CERTIFICATE_ALTERED,
    CERTIFICATE_FORK,
    CERTIFICATE_GAP,
    CERTIFICATE_REORDERED,
    CERTIFICATE_UNKNOWN_ALGORITHM,
    LEDGER_INCOMPLETE,
    LEDGER_MISDECLARED,
    LEDGER_UNBALANCED,
    TEST_FAILED,
    TEST_NOT_RUN,
)

_REMEDIES = {
    ("ledger", LEDGER_UNBALANCED): "Rows came in that were neither processed, filtered nor counted as errors, or more "
    "went out than came in. Compare the counts on the page of the run, correct the job, and run it again.",
    ("ledger", LEDGER_MISDECLARED): "The counts add up, but the job declares that they do not. Correct how the job "
    "computes its declaration.",
    ("ledger", LEDGER_INCOMPLETE): "A count is missing, so the ledger cannot be added up. Let the job state input, "
    "processed, filtered and errored rows.",
    (
        "certificate",
        CERTIFICATE_ALTERED,
    ): "The certificate is not the one that was issued: its hash is another one. Get "
    "the original from whoever issued it, and find out who changed it on the way.",
    ("certificate", CERTIFICATE_UNKNOWN_ALGORITHM): "This version cannot compute the hash, so it neither confirms nor "
    "refutes it. Upgrade lineproof, or issue certificates with lineproof-sha256-1.",
    (
        "certificate",
        CERTIFICATE_GAP,
    ): "The certificate before this one has not arrived. If it is still on its way, this "
    "resolves itself; otherwise send its event again.",
    ("certificate", CERTIFICATE_FORK): "Two certificates follow the same one. Let only one writer at a time continue a "
    "chain, and find out which of the two is right.",
    ("certificate", CERTIFICATE_REORDERED): "The certificate is older than the one before it. Check the clock of the "
    "machine that issued it.",
    (
        "quality",
        TEST_FAILED,
    ): "Look at the values that fail the test on the page of the dataset, correct the data or the "
    "expectation, and run the test again.",
    (
        "quality",
        TEST_NOT_RUN,
    ): "The test itself failed, for example because a column is missing. Correct the test or the "
    "schema, and run it again.",
    ("quarantine", "cannot be processed"): "Report it with the error. After an upgrade, delete its row in `quarantine` "
    "and rebuild, or redrive it.",
    ("emitter", "missing events"): "The emitter numbered events that never arrived. Check whether its process was "
    "killed and its spool deleted; `lineproof load` can send what a spool still has.",
    (
        "archive",
        "missing records",
    ): "The topic lost these records before they were archived, and the loss was accepted. "
    "Send the events again if their producers still have them.",
}
_OTHER = "See docs/runs.md for what the verdict means."


def remedy(kind: str, verdict: str) -> str:
    """What to do about it."""
    return _REMEDIES.get((kind, verdict), _OTHER)
