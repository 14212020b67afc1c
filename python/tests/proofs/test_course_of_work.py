"""The round of deferred_work, with kernels whose task yields after each submitted function and with others."""

import tomllib

import pytest

from rtoslab.base.paths import find_checkout_root
from rtoslab.results.finding import ProofVerdict
from rtoslab.targets.steps import HANDLER, INTERRUPT, ObservedBenchmarkStep
from tests.proofs.test_course import FACTS, ONE, call, judge, switch

WORKER = 0x2000_E000
"""The control block of the kernel's task."""
WORK_FACTS = {
    **FACTS,
    "symbols": {**FACTS["symbols"], "work_submit": ["submit"], "work_submit_from_isr": ["submit"]},
    "arguments": {**FACTS["arguments"], "work_submit": ["object"], "work_submit_from_isr": ["object"]},
}


def rule_without_marks() -> dict[str, object]:
    """The rule from benchmark.toml without its marks, because the fake benchmark has no series."""
    path = find_checkout_root() / "firmware" / "benchmarks" / "deferred_work" / "benchmark.toml"
    (rule,) = (proof for proof in tomllib.loads(path.read_text())["proof"] if proof["rule"] == "course")
    steps = [step for step in rule["round"] if " start " not in step and " stop " not in step]
    return {"rule": "course", "round": steps}


@pytest.mark.parametrize("yields", [0, 1, 2])
def test_task_of_the_kernel_may_yield_once_after_each_function(yields: int) -> None:
    after = [call("yield", WORKER)] * yields
    round_ = [
        call("submit"), switch(ONE, WORKER, "submit"), *after, switch(WORKER, ONE, ""),
        ObservedBenchmarkStep(0, 0, INTERRUPT, ONE, first=16 + 26), call("submit", HANDLER),
        switch(ONE, WORKER, ""), *after, switch(WORKER, ONE, ""),
    ]  # fmt: skip
    finding = judge(rule_without_marks(), round_ * 5, WORK_FACTS)
    assert (finding.verdict is ProofVerdict.HOLDS) == (yields < 2), finding.saw
