"""docs/mutants.md: for each benchmark the mistakes that its proofs are known to refuse."""

from collections.abc import Mapping

from rtoslab.base import counted
from rtoslab.catalogue import Catalogue
from rtoslab.mutants.mutants import MutantsOf

_HEAD = """# What each benchmark's proofs guard against

A benchmark says in its benchmark.toml what must be seen before its figure counts ([spec/port.md](../spec/port.md) lists
the rules). Whether that is enough is tried: each mutant below is a mistake that a person could make in the benchmark's
source. It builds, it runs to its end, and a proof refuses it.

    make mutants                                      # all of them; a survivor fails
    .venv/bin/python bench/mutants.py {one} {other}

Before a benchmark's mutants it is measured itself, unbroken, in the same setting. A mutant is a `[[mutant]]` in
`firmware/mutants/<benchmark>.toml`: what was got wrong, the texts that are replaced (each must stand in the source
exactly once), and `refused_by`, rules whose proofs must fail. `[setting]` says what they are tried on. This page is
written from those files by `bench/mutants.py --page`.

What the proofs look at is not the image's word but what the virtual board's probes see: each call of the kernel with
its arguments and its result, each switch with the call it came out of, the kernel's objects and control blocks in
memory, and where each core's cycles went. On a real board, without probes, most of this cannot be seen.
"""


def page(catalogue: Catalogue, every: Mapping[str, MutantsOf]) -> str:
    """The page's text."""
    count = sum(len(of.mutant) for of in every.values())
    names = [f"{name}/{of.mutant[0].id}" for name, of in sorted(every.items())]
    head = _HEAD.format(one=min(every), other=names[-1])
    parts = [head, f"{counted(count, 'mutant')} of {counted(len(every), 'benchmark')}:\n"]
    for name, of in sorted(every.items()):
        parts.append(f"## {name}: {catalogue.benchmark(name).facts.title}\n")
        rows = [f"| {each.id} | {each.kind} | {each.mistake} | {', '.join(each.refused_by)} |" for each in of.mutant]
        parts.append("\n".join(["| mutant | where | mistake | refused by |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)
