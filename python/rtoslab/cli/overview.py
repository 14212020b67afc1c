"""The line of each command in `rtoslab --help`, under the purpose that it serves."""

from collections.abc import Mapping
from typing import Final

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Begin": {
        "choose": "compare kernels on your board: who leads, and how sure that is",
        "demo": "measure T1 to T8 on a virtual board, and report",
        "doctor": "check the tools that rtoslab needs",
        "list": "list kernels, boards, benchmarks and suites",
        "init": "write rtoslab.toml for firmware of your own",
        "new": "make a benchmark, kernel, board or paper from a template",
        "completion": "print a script that completes commands in your shell",
    },
    "Measure": {
        "run": "measure benchmarks or suites, with proofs, into a folder",
        "paper": "repeat a paper's experiments, beside its own figures",
        "sweep": "measure every combination of options; show their effects",
        "footprint": "show the size of an image, a kernel, each of its services",
        "conformance": "check that a kernel's port does what the contract says",
        "sim": "run any image on a virtual board",
        "gdb": "debug any image on a virtual board, forwards and backwards",
        "calibrate": "find which timing rules a real board confirms or refutes",
        "targets": "show which probes and real boards are connected",
        "capture": "record a latency benchmark's pin as a capture file",
    },
    "Explain": {
        "diagnose": "find what goes wrong in any image, worst first",
        "profile": "show where every cycle went: by function, call path, line",
        "trace": "show what ran when, as a timeline for Perfetto or VCD",
        "query": "ask a written trace: load per task, latencies, SQL",
        "measure": "measure every call of a function: cycles, path, stack",
        "masked": "show how long kernels mask interrupts, by call",
        "placement": "show how far figures change when the code is moved",
        "worst-case": "find the longest interrupt latency over all cycles of a run",
        "rta": "bound worst-case response times; check them on a board",
        "decode": "read a logic analyzer's capture",
    },
    "Compare": {
        "compare": "compare runs: what differs, by how much, and where",
        "gate": "compare figures with a baseline; exit code for CI",
        "baseline": "keep the figures of runs as a baseline",
        "lint": "show where a comparison is unfair, and what that costs",
        "stability": "show in how many builds a paper's statements hold",
    },
    "Keep and report": {
        "runs": "find stored points; export them; show their history",
        "show": "show stored runs on the terminal",
        "report": "write a report: HTML, Markdown, CSV or JSON",
        "verify": "decode, prove and compute stored runs once more",
        "reference": "show or renew results of kernels that you do not have",
    },
    "Kernels of your own": {
        "tree": "build a kernel from a folder of sources that you name",
        "kernel": "write what a kernel with a build of its own needs",
    },
}
"""Section -> command -> its line."""
