"""How tight the bounds of response times are: random task sets on a virtual board, each job against its bound.

The figures do not depend on the machine this runs on: the same seeds give the same ratios.
"""

from __future__ import annotations

import argparse
import sys
from random import Random
from statistics import median

from rtoslab.catalogue import Catalogue
from rtoslab.paths import find_root
from rtoslab.rta.analysis import analyse
from rtoslab.rta.charges import MODEL_TITLES, Model
from rtoslab.rta.check import check
from rtoslab.rta.firmware import make_firmware
from rtoslab.rta.fit import measure
from rtoslab.rta.randomsets import random_system
from rtoslab.rta.work import calibrate

GOAL = 1.10
TICKS = 240


def main() -> int:
    """Prints the median of bound over longest observed response by model; 1 if a job exceeded a bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--kernel", default="freertos")
    parser.add_argument("--board", default="nucleo-f446re")
    asked = parser.parse_args()
    catalogue = Catalogue(find_root())
    firmware = make_firmware(catalogue, asked.kernel, asked.board, {})
    work = calibrate(firmware)
    overheads = measure(catalogue, firmware, work)
    ratios: dict[Model, list[float]] = {model: [] for model in Model}
    jobs = exceeded = 0
    for seed in range(asked.sets):
        system = random_system(Random(seed), firmware.clock_hz, firmware.tick_cycles)  # noqa: S311 (seeded on purpose)
        seen = check(system, firmware, work, TICKS)
        jobs += seen.jobs
        for model in Model:
            found = analyse(system, overheads, model)
            ratios[model] += seen.tightness(found).values()
            exceeded += len(seen.exceeded(found)) if model is Model.PARTITION else 0
    print(f"Response-time bounds, {asked.kernel} on {asked.board}: {asked.sets} random task sets, {jobs:,} jobs")
    for model, found_ratios in ratios.items():
        middle = median(found_ratios)
        title = f"({model}) {MODEL_TITLES[model]}"
        print(f"  {title:35} bound / longest observed: least {min(found_ratios):.3f}, median {middle:.3f}")
    print(f"  tasks that exceeded bound (c): {exceeded}; goal: none, and a median below {GOAL:.2f}")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
