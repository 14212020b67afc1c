"""What every TOML file of the catalogue is read with."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Base: immutable, no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
