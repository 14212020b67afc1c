"""Bytes of minimal programs, built for a paper's report, as values beside those of the measured points."""

from collections.abc import Collection, Iterator
from pathlib import Path

from rtoslab.analyses import Value
from rtoslab.catalogue import Catalogue, PaperFolder, Weighed
from rtoslab.footprint import weigh
from rtoslab.reference import StoredWeight
from rtoslab.results import ImageBytes, PointId, Weight
from rtoslab.store import manifest_hash

BENCHMARK = "footprint"


def weigh_programs(catalogue: Catalogue, paper: PaperFolder, kernels: Collection[str]) -> list[StoredWeight]:
    """Builds and weighs every program that the paper asks for of these kernels. Raises BuildError, PlanError."""
    return [_weigh(catalogue, each) for each in paper.facts.footprint if each.kernel in kernels]


def weight_values(weight: Weight) -> Iterator[Value]:
    """Its sections' bytes, counted as `size` does."""
    for section in ("text", "data", "bss"):
        size = getattr(weight.image, f"{section}_bytes")
        yield Value(
            weight.point, weight.run_id, weight.clock_hz, {}, BENCHMARK, BENCHMARK, section, size, "bytes", 1
        )  # fmt: skip


def _weigh(catalogue: Catalogue, asked: Weighed) -> StoredWeight:
    weighed = weigh(catalogue, asked.kernel, asked.board, program=asked.program, config=asked.config)
    point = PointId(
        benchmark=BENCHMARK,
        title=f"footprint of the program {asked.program}",
        kernel=asked.kernel,
        board=asked.board,
        cores=1,
        window_ms=0,
        config=dict(sorted({**asked.config, "program": asked.program}.items())),
    )
    manifest: dict[str, object] = {"build": weighed.build.info, "elf_sha256": weighed.build.elf_sha256}
    sizes = {f"{section}_bytes": size for section, size in weighed.footprint.berkeley().items()}
    clock_hz = catalogue.board(asked.board).facts.clock.sys_hz
    run_id = manifest_hash(manifest)[:16]
    return StoredWeight(
        Path(), Weight(run_id=run_id, point=point, clock_hz=clock_hz, image=ImageBytes(**sizes)), manifest
    )
