"""Executes the steps of a configured build in the order of its build files. Known objects are copied from the cache.

A step that failed or was stopped must not leave a file that a later build takes for complete. So only outputs of
successful compilers are cached, and each build has a folder of its own."""

import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import IO, Final

from rtoslab.base import tools
from rtoslab.images.compilation import FIRMWARE_LINK, CompilerCall, parse_compiler_call, with_firmware_path
from rtoslab.images.object_cache import ObjectFileCache

PARALLEL_COMPILERS: Final = 2
"""Compilers that a build runs at the same time."""

_Step = CompilerCall | str


class StepFailedError(Exception):
    """Raised if a step of a build ended with an error. The build's log has the command and its output."""


@dataclass(slots=True)
class _StepRunner:
    """Executes the steps of a build, and records them with the files that were read."""

    objects: ObjectFileCache
    log: IO[str]
    lock: Lock = field(default_factory=Lock)
    files_read: set[str] = field(default_factory=set)
    steps: list[_Step] = field(default_factory=list)

    def compile(self, call: CompilerCall) -> None:
        """Compiles a source file, or copies its object from the cache."""
        call.object_file_path.parent.mkdir(parents=True, exist_ok=True)
        result = self._compile_through_ccache(call) if self.objects.is_cacheable(call) else None
        if result is None:
            output = self._run_program(call.relative_arguments, call.work)
            self._write_log(f"Compiled: {call.path_of_compiled_source_file}")
            result = output, call.files_read_by_compiler()
        output, files_read = result
        self._write_log(output)
        with self.lock:
            self.files_read.update(files_read)

    def _compile_through_ccache(self, call: CompilerCall) -> tuple[str, tuple[str, ...]] | None:
        """Compiles a source file through ccache. Returns the compiler's messages and the files that it read. None if
        the file must be compiled without ccache, which then shows any error of the compiler."""
        arguments = [str(self.objects.ccache), *call.relative_arguments]
        process = _run(arguments, call.work, self.objects.settings(call))
        if process.returncode != 0:
            return None
        files_read = call.files_read_by_compiler()
        if self.objects.has_unlisted_inputs(files_read):
            return None
        if not call.is_copied_from_cache():
            self._write_log(f"Compiled: {call.path_of_compiled_source_file}")
        return process.stdout, files_read

    def run_command(self, work: Path, line: str) -> None:
        """Runs a command of the build files that compiles no source file."""
        self._write_log(self._run_program(("/bin/sh", "-c", line), work))

    def read_build_steps(self, work: Path) -> Iterator[_Step]:
        """Yields the steps of a configured build. Raises StepFailedError if there are none, for the empty folder would
        pass for an image."""
        output = self._run_program((str(tools.find_build_program("ninja")), "-C", str(work), "-t", "commands"), work)
        commands = [line for line in output.splitlines() if not line.startswith("ninja: ")]
        if not commands:
            self._write_log("FAILED: the build files name no step.")
            raise StepFailedError
        for line in commands:
            step = parse_compiler_call(work, line, self.objects.firmware) or line
            self.steps.append(step)
            yield step

    def _run_program(self, arguments: Sequence[str], work: Path) -> str:
        """Runs a program and returns its output. Raises StepFailedError if it fails."""
        process = _run(arguments, work)
        if process.returncode != 0:
            self._write_log(f"FAILED ({process.returncode}): {shlex.join(arguments)}\n{process.stdout}")
            raise StepFailedError
        return process.stdout

    def _write_log(self, text: str) -> None:
        """Appends a text and a line end to the build's log, with the absolute paths of the firmware's files."""
        text = with_firmware_path(text, str(self.objects.firmware))
        with self.lock:
            self.log.write(text if not text or text.endswith("\n") else f"{text}\n")


@dataclass(frozen=True, slots=True)
class BuildStepsResult:
    """The result of a build: the files that it read and the steps that it executed."""

    files_read: frozenset[str]
    """The files that its compilers read."""
    steps: tuple[_Step, ...]

    @property
    def compiler_calls_of_build(self) -> list[CompilerCall]:
        """Returns the compiler calls of the build."""
        return [step for step in self.steps if isinstance(step, CompilerCall)]

    @property
    def commands_besides_compilations(self) -> list[str]:
        """Returns the commands of the build that compile no source file."""
        return [step for step in self.steps if isinstance(step, str)]


def _run(
    arguments: Sequence[str], work: Path, more: Mapping[str, str] = MappingProxyType({})
) -> "subprocess.CompletedProcess[str]":
    """Runs a program of the build, and returns its ended process with its output. `more`: environment variables."""
    return subprocess.run(
        arguments,
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=tools.build_environment_variables(more),
        check=False,
    )


def run_build_steps(work: Path, objects: ObjectFileCache, log: IO[str]) -> BuildStepsResult:
    """Executes all steps of a configured build. Raises StepFailedError, whose reason is in the log, and OSError."""
    steps = _StepRunner(objects, log)
    link = work / FIRMWARE_LINK
    link.unlink(missing_ok=True)
    link.symlink_to(objects.firmware)
    with ThreadPoolExecutor(PARALLEL_COMPILERS) as pool:
        for are_compilations, group in groupby(
            steps.read_build_steps(work), key=lambda line: isinstance(line, CompilerCall)
        ):
            if are_compilations:
                _compile_in_parallel(pool, steps, group)
            else:
                for step in group:
                    if isinstance(step, str):
                        steps.run_command(work, step)
    return BuildStepsResult(frozenset(steps.files_read), tuple(steps.steps))


def _compile_in_parallel(pool: ThreadPoolExecutor, steps: _StepRunner, group: Iterable[_Step]) -> None:
    """Runs the compilations of a group in parallel. After a failure no further one is started, and the error is raised
    again."""
    waiting: list[Future[None]] = [pool.submit(steps.compile, step) for step in group if isinstance(step, CompilerCall)]
    try:
        for future in waiting:
            future.result()
    except BaseException:
        for future in waiting:
            future.cancel()
        raise
