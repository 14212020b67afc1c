"""The images in which task sets run, with their calibrated work and their kernel's overheads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtoslab.base import TaskSetCheckError
from rtoslab.catalogue import Catalogue
from rtoslab.plan import PAIR_SIGN
from rtoslab.rta.firmware import TaskSetFirmware, build_task_set_firmware
from rtoslab.rta.fit import measure_kernel_overheads
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.work import BusyWork, calibrate_busy_work


def _config_with_code_in_sram(config: Mapping[str, str]) -> dict[str, str]:
    """Returns a configuration with the code in SRAM. Raises TaskSetCheckError if it says that the code is elsewhere.
    In flash the image would not fit the cache that the flash is read through, and each job could wait for the flash.
    """
    if config.get("code", "sram") != "sram":
        raise TaskSetCheckError(
            f"With two kernels, or with interrupts, sections, sends or timers on several cores, the code cannot be in "
            f"{config['code']}, because it does not fit the cache of the flash; leave code out, or write code=sram."
        )
    return {**config, "code": "sram"}


@dataclass(frozen=True)
class TaskSetImages:
    """The image that runs task sets, with its calibrated work.
    Work is calibrated on one core: the delay by other cores is an overhead.
    """

    firmware: TaskSetFirmware
    one_core_firmware: TaskSetFirmware
    """The image for one core, the same object where `firmware` has one core."""
    work: BusyWork

    @classmethod
    def build_images(
        cls,
        catalogue: Catalogue,
        kernel: str,
        board: str,
        config: Mapping[str, str],
        *,
        events: int = 0,
        cores: int = 1,
    ) -> TaskSetImages:
        """Builds the images that run task sets, and calibrates their work.
        Raises BuildError, ConformanceError, TaskSetCheckError.
        """
        if PAIR_SIGN in kernel or (events and cores > 1):
            config = _config_with_code_in_sram(config)
        firmware = one = build_task_set_firmware(catalogue, kernel, board, config, events=events, cores=cores)
        if cores > 1 or PAIR_SIGN in kernel:
            one = build_task_set_firmware(catalogue, kernel.partition(PAIR_SIGN)[0], board, config)
        return cls(firmware, one, calibrate_busy_work(one))

    def measured_overheads(self, catalogue: Catalogue) -> KernelOverheads:
        """Returns the kernel's overheads, measured now or read from the cache. Raises TaskSetCheckError."""
        firmware = self.firmware
        one_core = (
            None
            if firmware is self.one_core_firmware
            else measure_kernel_overheads(catalogue, self.one_core_firmware, self.work)
        )
        overheads = measure_kernel_overheads(catalogue, firmware, self.work, one_core=one_core)
        return overheads.model_copy(update={"deviations": firmware.deviations})
