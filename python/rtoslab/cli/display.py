"""What commands that measure show while they do, and how they call a folder."""

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from rtoslab.pool import Note


def short_path(folder: Path) -> Path:
    """Seen from the working directory, if it lies below it."""
    try:
        return folder.resolve().relative_to(Path.cwd())
    except ValueError:
        return folder


class Display:
    """Progress on stderr: bars on a terminal, one line per finished point elsewhere, nothing if quiet."""

    def __init__(self, points: int, *, quiet: bool) -> None:
        console = Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._console = console
        self._all = self._bars.add_task("points", total=points)
        self._tasks: dict[int, TaskID] = {}

    def __enter__(self) -> "Display":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def note(self, note: Note) -> None:
        """Takes news of a point: a phase with its progress, or the outcome."""
        if note.outcome is not None:
            if note.index in self._tasks:
                self._bars.remove_task(self._tasks.pop(note.index))
            self._bars.advance(self._all)
            if not self._quiet and not self._console.is_terminal:
                self._console.print(f"{note.point.label}: {note.outcome.result.status}")
            return
        if note.index not in self._tasks:
            self._tasks[note.index] = self._bars.add_task(note.point.label, total=100)
        self._bars.update(
            self._tasks[note.index], description=f"{note.point.label}: {note.phase}", completed=int(100 * note.done)
        )
