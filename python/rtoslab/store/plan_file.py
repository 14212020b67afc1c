"""plan.json: the points for which a run directory was made, with a digest of its own."""

import hashlib
from pathlib import Path

from pydantic import ValidationError

from rtoslab.base import AlteredFileError, StoreError, StrictFileSchemaModel, to_canonical_json
from rtoslab.intake import STORED_BYTES, read_bytes
from rtoslab.results import PointId


class PlanFile(StrictFileSchemaModel):
    """The content of plan.json: the points for which a run directory was made."""

    format: int = 1
    suite: str | None
    points: list[PointId]
    sha256: str
    """The digest of the rest, which reveals an altered plan."""

    @classmethod
    def make_plan_file(cls, suite: str | None, points: list[PointId]) -> "PlanFile":
        """Returns a plan for these points with the digest of its content."""
        plan = cls(suite=suite, points=points, sha256="")
        return plan.model_copy(update={"sha256": plan.content_digest()})

    def content_digest(self) -> str:
        """Returns the digest that `sha256` must have: that of all other fields."""
        return hashlib.sha256(to_canonical_json(self.model_dump(mode="json", exclude={"sha256"})).encode()).hexdigest()


def read_plan_file(path: Path) -> PlanFile:
    """Returns the content of a plan.json. Raises StoreError if it cannot be read, AlteredFileError if it was
    changed."""
    try:
        plan = PlanFile.model_validate_json(read_bytes(path, STORED_BYTES, "the plan", StoreError))
    except ValidationError:
        raise AlteredFileError(f"{path} is not a valid plan; restore it from a copy.") from None
    if plan.sha256 != plan.content_digest():
        raise AlteredFileError(f"{path} was changed after it was written; restore it from a copy.")
    return plan
