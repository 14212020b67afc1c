"""Says how many proofs hold. Proofs without observations count as proofs, but not as holding."""

from collections.abc import Sequence

from rtoslab.results import MeasuredPoint


def successful_proof_count_clause(measured: Sequence[MeasuredPoint], of_what: str = "") -> str:
    """Returns a clause on how many proofs of these points hold. `of_what` comes after the word proof."""
    held = sum(result.successful_proof_count for result in measured)
    every = sum(len(result.proofs) for result in measured)
    if held == every == 1:
        return f"its one proof{of_what} holds"
    if held == every:
        return f"all {held:,} proofs{of_what} hold"
    verb = "holds" if held == 1 else "hold"
    return f"of {every:,} proofs{of_what} {held:,} {verb}, the others do not apply"
