"""The steps of a configured build, in the order that its build files give: compilations out of the kept objects where
they are known, everything else as it is.

The trap it prevents: a step that failed or was ended must leave nothing that a later build takes for whole. Only what a
compiler ended well is kept, and each build has a folder of its own.
"""

import shlex
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import IO, Final

from rtoslab.base import StoreError, tools
from rtoslab.images.compilation import Archiving, Compilation, archiving, compilation
from rtoslab.images.object_cache import Compiled, Objects, now_ns

AT_ONCE: Final = 2
"""Compilers that a build starts side by side."""

_Step = Compilation | Archiving | str


class StepFailedError(Exception):
    """A step ended with an error. Its output is in the log."""


@dataclass(slots=True)
class _Steps:
    objects: Objects
    log: IO[str]
    writing: Lock = field(default_factory=Lock)
    read: set[str] = field(default_factory=set)
    done: list[_Step] = field(default_factory=list)

    def compile(self, compilation: Compilation) -> None:
        """Makes an object or copies the one that is kept."""
        call = self.objects.call(compilation)
        cached = self.objects.find(call)
        if cached is None and self.objects.is_of_one_image(call):
            cached = self._compile(compilation), compilation.files()
        if cached is None:
            with self.objects.exclusive_lock(call):
                cached = self.objects.find(call) or self._compile_and_store(
                    compilation, call
                )  # another build may have kept it meanwhile
        result, files = cached
        compilation.put(result.object, result.callgraph)
        self._tell(result.output)
        with self.writing:
            self.read.update(files)

    def _compile_and_store(self, compilation: Compilation, call: str) -> tuple[Compiled, tuple[str, ...]]:
        """Compiled, if no other source gave the same code, and kept."""
        began_ns = now_ns()
        preprocessed = compilation.preprocess()
        result = None if preprocessed is None else self.objects.find_preprocessed(compilation, preprocessed)
        result = result or self._compile(compilation)
        if preprocessed is not None and not (
            preprocessed.contains_checkout or compilation.contains_its_place(result.object + (result.callgraph or b""))
        ):
            with suppress(StoreError):  # the image needs no kept object. On a disk without room it fails itself
                self.objects.store(compilation, call, preprocessed, result, began_ns)
        return result, compilation.files() if preprocessed is None else preprocessed.files

    def _compile(self, compilation: Compilation) -> Compiled:
        output = self._run(compilation.arguments, compilation.work)
        self._tell(f"Compiled: {compilation.source}")
        callgraph = compilation.callgraph.read_bytes() if compilation.callgraph.is_file() else None
        return Compiled(compilation.object.read_bytes(), callgraph, output)

    def archive(self, archiving_: Archiving) -> None:
        """Makes a library or copies the one that is kept."""
        key = self.objects.archive(archiving_)
        content = self.objects.find_archive(key)
        if content is not None:
            archiving_.archive.parent.mkdir(parents=True, exist_ok=True)
            archiving_.archive.write_bytes(content)
            return
        self.other(archiving_.work, archiving_.line)
        with suppress(StoreError):
            self.objects.store_archive(key, archiving_.archive.read_bytes())

    def other(self, work: Path, line: str) -> None:
        """A step that is no compilation, in the words of the build's files."""
        self._tell(self._run(("/bin/sh", "-c", line), work))

    def lines(self, work: Path) -> Iterator[_Step]:
        """The steps. A build without any would be an empty folder that passes for an image."""
        output = self._run((str(tools.find_tool("ninja")), "-C", str(work), "-t", "commands"), work)
        commands = [line for line in output.splitlines() if not line.startswith("ninja: ")]
        if not commands:
            self._tell("FAILED: the build files name no step.")
            raise StepFailedError
        for line in commands:
            step = compilation(work, line, self.objects.firmware) or archiving(work, line) or line
            self.done.append(step)
            yield step

    def _run(self, arguments: tuple[str, ...], work: Path) -> str:
        done = subprocess.run(
            arguments,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=tools.build_environment(),
            check=False,
        )
        if done.returncode != 0:
            self._tell(f"FAILED ({done.returncode}): {shlex.join(arguments)}\n{done.stdout}")
            raise StepFailedError
        return done.stdout

    def _tell(self, text: str) -> None:
        with self.writing:
            self.log.write(text if not text or text.endswith("\n") else f"{text}\n")


@dataclass(frozen=True, slots=True)
class MakeResult:
    """A build that was carried out."""

    files_read: frozenset[str]
    """By its compilers."""
    steps: tuple[_Step, ...]

    @property
    def compilations(self) -> list[Compilation]:
        """Its compiler calls."""
        return [step for step in self.steps if isinstance(step, Compilation)]

    @property
    def other_lines(self) -> list[str]:
        """Its steps that neither compile nor make a library."""
        return [step for step in self.steps if isinstance(step, str)]


def make(work: Path, objects: Objects, log: IO[str]) -> MakeResult:
    """Carries out a configured build.

    Raises StepFailedError, its words in the log. OSError.
    """
    steps = _Steps(objects, log)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for are_compilations, group in groupby(steps.lines(work), key=lambda line: isinstance(line, Compilation)):
            if are_compilations:
                _all(pool, steps, group)
            else:
                for step in group:
                    if isinstance(step, Archiving):
                        steps.archive(step)
                    elif isinstance(step, str):
                        steps.other(work, step)
    return MakeResult(frozenset(steps.read), tuple(steps.done))


def _all(pool: ThreadPoolExecutor, steps: _Steps, group: Iterable[_Step]) -> None:
    """The compilations of a group side by side. The first one that fails is the last one begun."""
    waiting: list[Future[None]] = [pool.submit(steps.compile, step) for step in group if isinstance(step, Compilation)]
    try:
        for future in waiting:
            future.result()
    except BaseException:
        for future in waiting:
            future.cancel()
        raise
