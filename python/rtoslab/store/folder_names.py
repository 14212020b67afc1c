"""Names of files and folders in a run directory. A list of many runs uses them, so this module loads no data model."""

PLAN = "plan.json"
"""The file with the plan. Every run directory has it."""
POINTS = "points"
"""The folder with a folder for each point."""


def measurement_folder_name_prefix(benchmark: str, kernel: str, board: str, cores: int) -> str:
    """Returns the beginning of the name of a point's folder."""
    return f"{benchmark}-{kernel}-{board}-{cores}c"
