"""Executes the steps of a configured build in the order of its build files. Known objects are copied from the cache.

The trap it prevents: a step that failed or was ended must not leave a file that a later build takes for complete.
Only outputs of successful compilers are cached, and each build has a folder of its own."""

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
from rtoslab.images.compilation import CompilerCall, LibraryArchiveStep, parse_compiler_call, parse_library_archive_step
from rtoslab.images.object_cache import CompilerOutputs, ObjectFileCache, present_time_ns

PARALLEL_COMPILERS: Final = 2
"""Compilers that a build runs at the same time."""

_Step = CompilerCall | LibraryArchiveStep | str


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

    def compile_or_copy_cached_object(self, compilation: CompilerCall) -> None:
        """Compiles a source file, or copies its object from the cache."""
        call = self.objects.compiler_call_key(compilation)
        cached = self.objects.find_compiler_outputs(call)
        if cached is None and self.objects.does_call_use_image_specific_macro(call):
            cached = self._run_compiler(compilation), compilation.files_read_by_compiler()
        if cached is None:
            with self.objects.exclusive_lock(call):
                cached = self.objects.find_compiler_outputs(call) or self._compile_and_store(
                    compilation, call
                )  # another build may have kept it meanwhile
        result, files = cached
        compilation.write_cached_outputs(result.object, result.callgraph)
        self._write_log(result.output)
        with self.lock:
            self.files_read.update(files)

    def _compile_and_store(self, compilation: CompilerCall, call: str) -> tuple[CompilerOutputs, tuple[str, ...]]:
        """Compiles a source file and caches its object, unless the cache has one of the same preprocessed code. Returns
        the outputs and the files read."""
        began_ns = present_time_ns()
        preprocessed = compilation.preprocess_source()
        result = (
            None if preprocessed is None else self.objects.find_outputs_by_preprocessed_code(compilation, preprocessed)
        )
        result = result or self._run_compiler(compilation)
        if preprocessed is not None and not (
            preprocessed.contains_checkout
            or compilation.does_object_file_contain_build_paths(result.object + (result.callgraph or b""))
        ):
            with suppress(StoreError):  # the image needs no kept object. On a disk without room it fails itself
                self.objects.store_compiler_outputs(compilation, call, preprocessed, result, began_ns)
        return result, compilation.files_read_by_compiler() if preprocessed is None else preprocessed.files

    def _run_compiler(self, compilation: CompilerCall) -> CompilerOutputs:
        """Runs the compiler. Returns the object, the call graph and the compiler's messages."""
        output = self._run_program(compilation.arguments, compilation.work)
        self._write_log(f"Compiled: {compilation.path_of_compiled_source_file}")
        callgraph = compilation.callgraph_path.read_bytes() if compilation.callgraph_path.is_file() else None
        return CompilerOutputs(compilation.object_file_path.read_bytes(), callgraph, output)

    def make_or_copy_library(self, archiving_: LibraryArchiveStep) -> None:
        """Makes a library of object files, or copies it from the cache."""
        key = self.objects.library_cache_key(archiving_)
        content = self.objects.find_library(key)
        if content is not None:
            archiving_.archive.parent.mkdir(parents=True, exist_ok=True)
            archiving_.archive.write_bytes(content)
            return
        self.run_command(archiving_.work, archiving_.line)
        with suppress(StoreError):
            self.objects.put_library_into_cache(key, archiving_.archive.read_bytes())

    def run_command(self, work: Path, line: str) -> None:
        """Runs a command of the build files that neither compiles nor makes a library."""
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
            step = (
                parse_compiler_call(work, line, self.objects.firmware) or parse_library_archive_step(work, line) or line
            )
            self.steps.append(step)
            yield step

    def _run_program(self, arguments: tuple[str, ...], work: Path) -> str:
        """Runs a program and returns its output. Raises StepFailedError if it fails."""
        done = subprocess.run(
            arguments,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=tools.build_environment_variables(),
            check=False,
        )
        if done.returncode != 0:
            self._write_log(f"FAILED ({done.returncode}): {shlex.join(arguments)}\n{done.stdout}")
            raise StepFailedError
        return done.stdout

    def _write_log(self, text: str) -> None:
        """Appends a text and a line end to the build's log."""
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
    def commands_besides_compile_and_archive(self) -> list[str]:
        """Returns the commands of the build that neither compile nor make a library."""
        return [step for step in self.steps if isinstance(step, str)]


def run_build_steps(work: Path, objects: ObjectFileCache, log: IO[str]) -> BuildStepsResult:
    """Executes all steps of a configured build. Raises StepFailedError, whose reason is in the log, and OSError."""
    steps = _StepRunner(objects, log)
    with ThreadPoolExecutor(PARALLEL_COMPILERS) as pool:
        for are_compilations, group in groupby(
            steps.read_build_steps(work), key=lambda line: isinstance(line, CompilerCall)
        ):
            if are_compilations:
                _compile_in_parallel(pool, steps, group)
            else:
                for step in group:
                    if isinstance(step, LibraryArchiveStep):
                        steps.make_or_copy_library(step)
                    elif isinstance(step, str):
                        steps.run_command(work, step)
    return BuildStepsResult(frozenset(steps.files_read), tuple(steps.steps))


def _compile_in_parallel(pool: ThreadPoolExecutor, steps: _StepRunner, group: Iterable[_Step]) -> None:
    """Runs the compilations of a group in parallel. After a failure no further one is started, and the error is raised
    again."""
    waiting: list[Future[None]] = [
        pool.submit(steps.compile_or_copy_cached_object, step) for step in group if isinstance(step, CompilerCall)
    ]
    try:
        for future in waiting:
            future.result()
    except BaseException:
        for future in waiting:
            future.cancel()
        raise
