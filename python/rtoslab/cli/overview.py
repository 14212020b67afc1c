"""The line of each command in `rtoslab --help`, under the purpose that it serves."""

from collections.abc import Mapping
from typing import Final

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Begin": {
        "choose": "compare kernels on your board: who leads, and how sure that is",
        "demo": "measure eight kernel tests on a virtual board, and report",
        "doctor": "check the tools that rtoslab needs",
        "list": "list kernels, boards, benchmarks and suites",
        "init": "write rtoslab.toml for your own firmware",
        "new": "create a benchmark, kernel, board or paper from a template",
        "completion": "print a script for command completion in your shell",
    },
    "Measure": {
        "run": "measure benchmarks or suites, checked by proofs",
        "paper": "repeat a paper's experiments and compare with its figures",
        "sweep": "measure every combination of options; show their effects",
        "footprint": "show the size of an image, a kernel, each of its services",
        "conformance": "check a kernel's port against the port contract",
        "sim": "run any image on a virtual board",
        "gdb": "debug any image on a virtual board, forwards and backwards",
        "calibrate": "compare the timing rules of a virtual board with a real board",
        "targets": "show which probes and real boards are connected",
        "capture": "record a latency benchmark's pin as a capture file",
    },
    "Explain": {
        "diagnose": "find what goes wrong in any image, worst first",
        "profile": "show where every cycle went: by function, call path, line",
        "trace": "show what ran when, as a timeline for Perfetto or VCD",
        "query": "query a stored trace: load per task, latencies, SQL",
        "measure": "measure every call of a function: cycles, path, stack",
        "masked": "show how long kernels mask interrupts, by call",
        "placement": "show how figures depend on the placement of the code",
        "worst-case": "find the worst-case interrupt latency over all cycles of a run",
        "rta": "compute worst-case response times; check them on a board",
        "decode": "read a capture of a logic analyzer",
    },
    "Compare": {
        "compare": "compare runs: which figures differ, by how much, and why",
        "gate": "compare figures with a baseline; exit code for CI",
        "baseline": "store the figures of runs as a baseline",
        "lint": "show where a comparison is unfair, and how much that matters",
        "stability": "show in how many builds a paper's statements hold",
    },
    "Store and report": {
        "runs": "find stored points; export them; show their history",
        "show": "show stored runs on the terminal",
        "report": "write a report: HTML, Markdown, CSV or JSON",
        "verify": "check stored runs against their raw data",
        "reference": "show or renew the included results of other kernels",
    },
    "Your own kernels": {
        "tree": "add a kernel from a folder of sources",
        "kernel": "write the files for a kernel with its own build system",
    },
}
"""Section -> command -> its line."""
