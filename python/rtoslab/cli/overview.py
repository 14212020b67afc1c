"""The line of each command in `rtoslab --help`, under the purpose that it serves, and the commands of before."""

from collections.abc import Mapping, Sequence
from typing import Final

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Begin": {
        "choose": "compare kernels on your board: who leads, and how sure that is",
        "demo": "measure eight kernel tests on a virtual board, and report",
        "doctor": "check the tools that rtoslab needs",
        "list": "list kernels, boards, benchmarks, suites, connected boards",
        "new": "create a benchmark, kernel, board, paper, or rtoslab.toml",
        "completion": "print a script for command completion in your shell",
    },
    "Measure": {
        "run": "measure benchmarks or suites, checked by proofs",
        "paper": "repeat a paper's experiments and compare with its figures",
        "sweep": "measure all combinations of options, or many code placements",
        "footprint": "show the size of an image, a kernel, each of its services",
        "sim": "run any image on a virtual board",
        "gdb": "debug any image on a virtual board, forwards and backwards",
        "calibrate": "compare the timing rules of a virtual board with a real board",
        "pins": "record a pin as a capture file; read a logic analyzer's capture",
    },
    "Explain": {
        "diagnose": "find what goes wrong in any image, worst first",
        "profile": "show where every cycle went: by function, call path, line",
        "trace": "show what ran when (Perfetto, VCD); loads, latencies, SQL",
        "measure": "measure every call of a function: cycles, path, stack",
        "masked": "show how long kernels mask interrupts, by call",
        "worst-case": "find the worst-case interrupt latency over all cycles of a run",
        "rta": "compute worst-case response times; check them on a board",
    },
    "Compare": {
        "compare": "compare runs: which figures differ, by how much, and why",
        "gate": "compare figures with a baseline, or store it; exit code for CI",
        "lint": "show where a comparison is unfair, and how much that matters",
        "stability": "show in how many builds a paper's statements hold",
    },
    "Store and report": {
        "runs": "find stored points; export and verify them; show their history",
        "show": "show stored runs on the terminal",
        "report": "write a report: HTML, Markdown, CSV or JSON",
    },
    "Kernels": {
        "kernel": "add a kernel; check its port; renew the included results",
    },
}
"""Section -> command -> its line."""

OLD_WORDS: Final[Mapping[str, str]] = {
    "baseline": "gate --store",
    "capture": "pins record",
    "conformance": "kernel conformance",
    "decode": "pins decode",
    "init": "new project",
    "placement": "sweep --placements 8",
    "query": "trace",
    "reference": "kernel reference",
    "targets": "list targets",
    "tree": "kernel tree",
    "verify": "runs verify",
}
"""Command of version 0.2 -> the words that replace it. The old ones go with version 0.3."""


def replace_obsolete_cli_command_name(arguments: Sequence[str]) -> list[str]:
    """Returns a command line without the program's name that begins with an old word, in today's words."""
    old, *rest = arguments
    new = OLD_WORDS[old].split()
    if old == "baseline":  # its first argument was the name
        places = [place for place, word in enumerate(rest) if word[:1] != "-" and rest[place - 1 : place] != ["--jobs"]]
        if places:
            new += ["--baseline", rest.pop(places[0])]
    if old == "placement" and any(word.startswith("--placements") for word in rest):
        new = new[:1]
    return [*new, *rest]
