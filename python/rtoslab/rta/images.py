"""The image that task sets run in, with how long its work lasts, and what its kernel costs once that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtoslab.catalogue import Catalogue
from rtoslab.rta.firmware import Firmware, make_firmware
from rtoslab.rta.fit import measure
from rtoslab.rta.overheads import Overheads
from rtoslab.rta.work import Work, calibrate


@dataclass(frozen=True)
class Images:
    """How long work lasts is calibrated on one core: what the others add to it on the bus is among the overheads."""

    firmware: Firmware
    on_one_core: Firmware
    """The same where there is one core."""
    work: Work

    @classmethod
    def build(
        cls,
        catalogue: Catalogue,
        kernel: str,
        board: str,
        config: Mapping[str, str],
        *,
        events: bool = False,
        cores: int = 1,
    ) -> Images:
        """Built and calibrated. Raises BuildError, ConformanceError, CheckError."""
        firmware = one = make_firmware(catalogue, kernel, board, config, events=events, cores=cores)
        if cores > 1:
            one = make_firmware(catalogue, kernel, board, config)
        return cls(firmware, one, calibrate(one))

    def overheads(self, catalogue: Catalogue) -> Overheads:
        """Measured, or found measured. Raises CheckError."""
        firmware = self.firmware
        one_core = None if firmware is self.on_one_core else measure(catalogue, self.on_one_core, self.work)
        overheads = measure(catalogue, firmware, self.work, one_core=one_core)
        return overheads.model_copy(update={"deviations": firmware.deviations})
