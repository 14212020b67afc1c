"""Checks that every instruction of the benchmark was executed as often as its rounds say, over the whole window and on
every core.

An instruction was executed once a round, or a few times only, at the edges of the window. Any other loop or branch
that the benchmark does not declare is refused: a loop in each round, a loop that begins later, a branch that is taken
now and then. Rounds are what the tasks counted, alone or several of them together, and in a latency benchmark the
intervals that were seen, whether they became samples or not. The rounds of a function that is called are the calls of
it, and each call has a caller: the benchmark itself, an interrupt of the board, or the kernel, where `entered` says
so."""

from collections import Counter
from collections.abc import Collection, Iterator

from rtoslab.proofs.evidence import (
    USUAL_PACE,
    BenchmarkProofEvidence,
    BenchmarkProofParameters,
    make_judged_proof_finding,
    make_unjudged_proof_finding,
)
from rtoslab.results import BenchmarkProofFinding
from rtoslab.targets import ALL_CORES, BenchmarkFunction, EquallyExecutedCodeRange

_HANDLER = "isr_"
_RUNNER = "bench_keep"
"""The function of the runner that drops what comes after a series has its samples. `samples_complete` accounts for
it."""
_MOST_TASKS = 10
"""The most tasks whose counts are added in every combination."""
_COUNTER_READ_US = 16
"""The longest time from either edge of the window to the read of another core's counters."""


class BenchmarkCodeProofParameters(BenchmarkProofParameters):
    """The parameters of the proof `own_code` in benchmark.toml. The proof checks that each instruction of the
    benchmark's own code was executed once per round, or only at the edges of the window."""

    passes: tuple[str, ...] = ()
    """How often a round passes through its loops: numbers, parameters, or terms of them (`loops * 2`, `words / 4`)."""
    waits: int = 0
    """Instructions of loops that wait for time to pass, executed any number of times. More where code is slower."""
    free: tuple[str, ...] = ()
    """Functions that are not accounted for: their loops and branches depend on random draws, or they compute for some
    time."""
    entered: tuple[str, ...] = ()
    """Functions that the kernel calls: entries of tasks that are created in the window, hooks."""
    checks: tuple[str, ...] = ()
    """Check records that count what only some of the rounds do."""
    instructions: int | None = None
    """The most instructions of the benchmark's own code in a round. More where code is slower."""


def judge_evidence(params: BenchmarkCodeProofParameters, evidence: BenchmarkProofEvidence) -> BenchmarkProofFinding:
    """Checks that each instruction of the benchmark's own code was executed once per round, or only at the edges of the
    window, by the profile."""
    demands = "each instruction of the benchmark is executed once a round, or at the window's edges alone"
    if _benchmark_code_instruction_limit(params, evidence) is not None:
        demands += f", and a round takes at most {_benchmark_code_instruction_limit(params, evidence):g} of them"
    if evidence.benchmark_code_instruction_limits(0) is not None:
        demands += ", and the code is as long as was measured for this chip"
    observed = evidence.observed
    if observed is None or not observed.own:
        return make_unjudged_proof_finding(
            params.rule, demands, "this target has no profile" if observed is None else "no profile was kept"
        )
    if evidence.decoded.params.get("lto") == "1":
        return make_unjudged_proof_finding(
            params.rule, demands, "the linker mixed the kernel's code with the benchmark's"
        )
    problems: list[str] = []
    seen: list[str] = []
    for where, core in evidence.task_groups_with_shared_counter:
        own_code = _BenchmarkCodeExecutionCounts(params, evidence, core)
        problems += [f"{where}: {problem}" for problem in own_code.sentences_on_unexpected_executions()]
        seen.append(f"{where}: {own_code.instructions} instructions, {sum(own_code.counts)} rounds")
    return make_judged_proof_finding(params.rule, demands, problems[:4], seen)


class _BenchmarkCodeExecutionCounts:
    """The executions of the benchmark's own code on the cores whose tasks count together, compared with its rounds."""

    def __init__(self, params: BenchmarkCodeProofParameters, evidence: BenchmarkProofEvidence, core: int) -> None:
        assert evidence.observed is not None
        self.params = params
        self.evidence = evidence
        self.core = core
        self.functions = [own_function for own_function in evidence.observed.own if own_function.core == core]
        self.counts = [count.count_in_window for count in evidence.decoded.counts if core in {ALL_CORES, count.core}]
        self.edge = 2 * (len(self.counts) + 1) + len(evidence.benchmark.series)
        if core != 0:  # its counters were read some microseconds from the stamps
            self.edge += max(self.counts, default=0) * _COUNTER_READ_US // evidence.decoded.begin.window_us
        self.called = Counter[str]()
        self.entered = Counter[str]()
        """By name: without optimisation each source file has an own copy of what is inline."""
        for function in self.functions:
            self.called.update(dict(function.calls))
            self.entered[function.name] += function.entries
        self.instructions = evidence.count_executed_instructions(core)
        self.rounds = self._possible_instruction_execution_counts()
        self.passes = [1, *(number for term in params.passes for number in self._possible_loop_pass_counts(term))]

    def sentences_on_unexpected_executions(self) -> list[str]:
        """Returns a sentence for each instruction and function of the benchmark that was executed an unexpected number
        of times."""
        unaccounted = [
            (own_function, part)
            for own_function in self.functions
            for part in self._code_with_unexpected_execution_count(own_function)
        ]
        strange = [(function, part) for function, part in unaccounted if not self._is_lock_wait(part)]
        in_locks = [part for _, part in unaccounted if self._is_lock_wait(part)]
        waiting = sum(part.instructions for _, part in strange)
        problems = [problem for name in self.entered for problem in self._function_entries_without_caller(name)]
        problems += self._instruction_count_problems()
        if waiting > self.params.waits * self.evidence.board_slowdown_over_pico():
            problems += [_instruction_span_sentence(function, part) for function, part in strange]
        parts = [part for function in self.functions for part in function.stretches if part not in in_locks]
        rounds = max(sum(self.counts), 1)
        taken = sum(part.instructions * part.executions for part in parts) / rounds
        cycles = sum(part.cycles for part in parts) / rounds
        most = _benchmark_code_instruction_limit(self.params, self.evidence)
        if most is not None and taken > most * self.evidence.board_slowdown_over_pico():
            problems.append(f"a round takes {taken:.0f} instructions of the benchmark's own")
        elif self.evidence.known_instructions() is not None and self.evidence.is_instruction_speed_usual():
            limit = self.evidence.benchmark_code_cycle_limit((most or 0) * USUAL_PACE)
            problems += [f"a round takes {cycles:.0f} cycles of the benchmark's own"] if cycles > limit else []
        return problems

    def _is_lock_wait(self, part: EquallyExecutedCodeRange) -> bool:
        """Whether a span of instructions is a loop of the kernel's headers that waits for the lock of all cores."""
        facts = self.evidence.kernel.several_cores
        return len(self.evidence.cores) > 1 and part.instructions == facts.inline_wait

    def _instruction_count_problems(self) -> Iterator[str]:
        """Yields a sentence if the executed instructions of the benchmark's own code are more or fewer than were
        measured before.

        With few samples not every branch is taken, so only a benchmark that counts can show that code is missing.
        """
        known = self.evidence.benchmark_code_instruction_limits(self.core)
        if known is None:
            return
        if self.instructions > known.most:
            yield f"{self.instructions} instructions of the benchmark's own were executed, {known.most} expected"
        elif self.instructions < known.least and self.evidence.benchmark.kind == "counts":
            yield f"only {self.instructions} instructions of the benchmark's own were executed, {known.least} expected"
        distance = self.evidence.observed.call_distance if self.evidence.observed else 0
        if not known.least_distance <= distance <= known.most_distance:
            yield (
                f"{distance} instructions are between the marks of intervals and the calls that they measure, "
                f"{known.least_distance} to {known.most_distance} expected"
            )

    def _function_entries_without_caller(self, name: str) -> Iterator[str]:
        """Yields a sentence if a function of the benchmark is entered more often than the benchmark calls it."""
        calls, entries = self.called[name], self.entered[name]
        if name.startswith(_HANDLER) or _name_without_compiler_suffix(name) in (
            *self.params.entered,
            *self.params.free,
        ):
            return
        if entries > self.edge and abs(entries - calls) > self.edge:
            yield f"{name} was entered {entries} times and called {calls} times by the benchmark"

    def _code_with_unexpected_execution_count(self, function: BenchmarkFunction) -> Iterator[EquallyExecutedCodeRange]:
        """Yields the instructions of a function that were executed an unexpected number of times."""
        if _name_without_compiler_suffix(function.name) in (*self.params.free, _RUNNER):
            return
        rounds = {function.entries, *self.rounds} if function.entries > self.edge else self.rounds
        for part in function.stretches:
            if part.executions > self.edge and not self._is_execution_count_plausible(part.executions, rounds):
                yield part

    def _is_execution_count_plausible(self, executions: int, rounds: Collection[int]) -> bool:
        """Whether a number of executions is, within the window's edges, a loop's passes times one of the numbers of
        `rounds`."""
        return any(abs(executions - times * round_) <= self.edge * times for round_ in rounds for times in self.passes)

    def _possible_instruction_execution_counts(self) -> set[int]:
        """Returns the execution counts that are right for an instruction of a round: sums of task counters, numbers of
        intervals, declared checks."""
        sums = {0}
        for count in self.counts[:_MOST_TASKS]:
            sums |= {count + sum_ for sum_ in sums}
        intervals = self.evidence.observed.intervals if self.evidence.observed else None
        series = Counter(interval.series for interval in intervals.intervals) if intervals else Counter[int]()
        expected = {check.value for check in self.evidence.decoded.checks if check.name in self.params.checks}
        return (sums - {0}) | set(series.values()) | expected

    def _possible_loop_pass_counts(self, term: str) -> list[int]:
        """Returns how often a round may execute an instruction of a loop of `term` passes, such as `words / 4`. The
        condition is executed once more than the body.

        The last factor of a product counts the passes of an inner loop, whose condition is executed once more in each
        pass of the outer.
        """
        outer, times, _ = term.rpartition(" * ")
        passes = self._evaluate_arithmetic_term(term)
        return [passes, passes + 1, *([passes + self._evaluate_arithmetic_term(outer)] if times else [])]

    def _evaluate_arithmetic_term(self, text: str) -> int:
        """Returns the value of a term of numbers and parameters with `*` and `/`, from left to right."""
        first, *rest = text.split(" ")
        number = self._value_of_number_or_parameter_name(first)
        for sign, word in zip(rest[::2], rest[1::2], strict=True):
            number = (
                number * self._value_of_number_or_parameter_name(word)
                if sign == "*"
                else number // self._value_of_number_or_parameter_name(word)
            )
        return number

    def _value_of_number_or_parameter_name(self, word: str) -> int:
        """Returns the value of a word that is a number or the name of a parameter."""
        return int(word) if word.isdecimal() else int(self.evidence.decoded.params[word])


def _benchmark_code_instruction_limit(
    params: BenchmarkCodeProofParameters, evidence: BenchmarkProofEvidence
) -> float | None:
    """Returns the most instructions of the benchmark's own code in a round. None if there is no limit."""
    known = evidence.known_instructions()
    return params.instructions if known is None else known


def _name_without_compiler_suffix(name: str) -> str:
    """Returns a function's name in the source, without a compiler's suffix such as `.constprop.0`."""
    return name.partition(".")[0]


def _instruction_span_sentence(function: BenchmarkFunction, part: EquallyExecutedCodeRange) -> str:
    """Returns a sentence on how often a span of a function's instructions was executed."""
    place = f"{function.name}+{part.address - function.stretches[0].address:#x}"
    return f"{part.instructions} instructions at {place} were executed {part.executions} times"
