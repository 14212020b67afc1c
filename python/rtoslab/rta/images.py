"""The images in which task sets run, with their calibrated work and their kernel's overheads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtoslab.catalogue import Catalogue
from rtoslab.rta.firmware import TaskSetFirmware, build_firmware
from rtoslab.rta.fit import measure_overheads
from rtoslab.rta.overheads import KernelOverheads
from rtoslab.rta.work import BusyWork, calibrate_work


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
        firmware = one = build_firmware(catalogue, kernel, board, config, events=events, cores=cores)
        if cores > 1:
            one = build_firmware(catalogue, kernel, board, config)
        return cls(firmware, one, calibrate_work(one))

    def measured_overheads(self, catalogue: Catalogue) -> KernelOverheads:
        """Returns the kernel's overheads, measured now or read from the cache. Raises TaskSetCheckError."""
        firmware = self.firmware
        one_core = (
            None
            if firmware is self.one_core_firmware
            else measure_overheads(catalogue, self.one_core_firmware, self.work)
        )
        overheads = measure_overheads(catalogue, firmware, self.work, one_core=one_core)
        return overheads.model_copy(update={"deviations": firmware.deviations})
