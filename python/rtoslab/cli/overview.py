"""What `rtoslab --help` says of each command: one whole line, under what a user wants to do."""

from collections.abc import Mapping
from typing import Final

SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Begin": {
        "demo": "measure FreeRTOS on a Pico, one core and two, and report",
        "doctor": "look for the tools that rtoslab needs",
        "list": "kernels, boards, benchmarks and suites that are here",
        "new": "make a benchmark, kernel, board or paper from a template",
        "completion": "print a script that completes commands in your shell",
    },
    "Measure": {
        "run": "measure benchmarks or suites, with proofs, into a folder",
        "paper": "measure what a paper did, beside its published figures",
        "sweep": "measure every combination of options, and their effects",
        "footprint": "bytes of an image, a kernel and each of its services",
        "conformance": "check that a kernel's port does what the contract says",
        "sim": "run any image on a virtual board",
        "capture": "write the pins of a latency benchmark as a capture",
    },
    "Explain": {
        "profile": "where every cycle went, by function, call path and line",
        "trace": "what ran when, as a timeline for Perfetto or VCD",
        "measure": "each call of a function of any firmware: cycles, stack",
        "masked": "how long kernels mask interrupts, by call",
        "placement": "how far figures move when the same code is moved",
        "worst-case": "the longest interrupt latency over all cycles of a run",
        "rta": "bounds of worst-case response times, checked on a board",
        "decode": "read a logic analyzer's capture",
    },
    "Compare": {
        "compare": "set runs against a reference run, by effect",
        "gate": "hold figures against a baseline; exit code for CI",
        "baseline": "keep the figures of runs as a baseline",
        "lint": "where a comparison is unfair, and what that costs",
    },
    "Keep and report": {
        "runs": "find stored points; export them; show their history",
        "show": "show stored runs on the terminal",
        "report": "write a report: HTML, Markdown, CSV or JSON",
        "verify": "decode, prove and compute stored runs once more",
        "reference": "results of kernels that you do not have",
    },
    "Kernels of your own": {
        "tree": "name a folder of kernel sources, to be built from there",
        "kernel": "what a kernel with a build of its own must be given",
    },
}
"""Section -> command -> its line."""
