"""The sections of a report: from analyses to sentences, charts and tables. Each returns None if it has nothing to say."""

from collections.abc import Sequence

from rtoslab.analyses.claims import judge_claims
from rtoslab.analyses.cycles import PARTS, lock_costs, shares, top_functions
from rtoslab.analyses.rulers import probe_effect, ruler_costs
from rtoslab.analyses.series import core_words, series_names, short_test
from rtoslab.analyses.throughput import Gain, gains, throughput
from rtoslab.reports.manifests import manifest_section
from rtoslab.reports.table import ChartData, Section, TableData
from rtoslab.results import Failed, Measured, NotApplicable
from rtoslab.schemas import Suite

__all__ = ["manifest_section"]

TOP_FUNCTIONS = 8


def _named(points: Sequence[Measured]) -> list[tuple[str, str, Measured]]:
    """(test, series, point)"""
    names = series_names([each.point for each in points])
    return [(short_test(each.point), name, each) for name, each in zip(names, points, strict=True)]


def summary(measured: Sequence[Measured], failed: Sequence[Failed], missing: Sequence[NotApplicable]) -> str:
    """One paragraph: what was found."""
    tests = list(dict.fromkeys(each.point.title for each in measured))
    sentences = [f"{len(measured)} points of {len(tests)} tests were measured, and all {sum(len(each.proofs) for each in measured)} "
                 "proofs that the tests did what their names say hold." if measured else "No point was measured."]
    pairs = gains(measured)
    if pairs:
        sentences.append(_gain_sentence(pairs))
        sentences.append(_lock_sentence(pairs))
    grown = [(each.many.point.heap.peak_bytes - each.one.point.heap.peak_bytes) for each in pairs
             if each.one.point.heap and each.many.point.heap]
    if grown:
        sentences.append(f"The heap's peak grows by {min(grown):,} to {max(grown):,} bytes with the second core."
                         if min(grown) != max(grown) else f"The heap's peak grows by {min(grown):,} bytes with the second core.")
    if failed:
        sentences.append(f"{len(failed)} points failed and give no number.")
    if missing:
        sentences.append(f"{len(missing)} points do not apply.")
    return " ".join(sentence for sentence in sentences if sentence)


def _gain_sentence(pairs: list[Gain]) -> str:
    up = [each for each in pairs if each.gain > 1]
    down = [each for each in pairs if each.gain <= 1]
    parts = []
    if up:
        parts.append("the second core raises the total throughput of "
                     + ", ".join(f"{short_test(each.many.point.point)} (x {each.gain:.2f})" for each in up))
    if down:
        parts.append(("lowers" if up else "the second core lowers") + " the total throughput of "
                     + ", ".join(f"{short_test(each.many.point.point)} (x {each.gain:.2f})" for each in down))
    text = " and ".join(parts) + "."
    return text[0].upper() + text[1:]


def _lock_sentence(pairs: list[Gain]) -> str:
    worst = None
    for each in pairs:
        for share in shares(each.many.point):
            part = share.parts["spinlock wait"] / share.cycles
            if worst is None or part > worst[0]:
                worst = (part, share)
    if worst is None or worst[0] < 0.01:  # noqa: PLR2004 (below one per cent there is nothing to say)
        return ""
    part, share = worst
    bus = share.parts["bus wait"] / share.cycles
    return (f"Most waiting for spinlocks is seen in {short_test(share.point.point)}, where core {share.core} spends {part:.0%} of its "
            f"cycles spinning and {bus:.0%} waiting for the bus.")


def not_measured(failed: Sequence[Failed], missing: Sequence[NotApplicable]) -> Section | None:
    """What gave no number, first, because a reader must not overlook it."""
    rows = [[short_test(each.point), core_words(each.point.cores), f"failed ({each.stage})", each.message] for each in failed]
    rows += [[short_test(each.point), core_words(each.point.cores), "n/a", each.reason] for each in missing]
    if not rows:
        return None
    table = TableData("Points without a number", ("test", "cores", "outcome", "why"), rows)
    return Section("missing", "Not measured", ("A point whose proof fails, or whose records are damaged, gives no number.",), (), (table,))


def throughput_section(points: Sequence[Measured]) -> Section | None:
    """Counts per second, like the paper's figure 18."""
    if not points:
        return None
    rows, data = [], []
    for test, series, point in _named(points):
        rate = throughput(point)
        data.append({"test": test, "series": series, "rate": rate.total_hz, "unit": point.unit})
        per_core = ", ".join(f"{value:,.0f}" for value in rate.per_core_hz.values())
        rows.append([point.point.title, series, f"{rate.total_hz:,.0f}", per_core, f"{rate.cycles_per_count:,.1f}",
                     f"{rate.fairness:.4f}", point.unit])
    note = ("Counts over the window by the board's own timer. Cycles per count are those of one core. Fairness is Jain's index "
            "over the cores: 1 means all counted alike.")
    table = TableData("Throughput", ("test", "run with", ">counts/s, all cores", ">per core", ">cycles per count", ">fairness",
                                     "what is counted"), rows, note)
    chart = ChartData("throughput", data, "Counts per second by test, on a logarithmic scale; one mark per number of cores.")
    return Section("throughput", "Throughput", (), (chart,), (table,))


def gain_section(points: Sequence[Measured]) -> Section | None:
    """What more cores buy."""
    pairs = gains(points)
    if not pairs:
        return None
    names = series_names([each.many.point.point for each in pairs])
    data = [{"test": short_test(each.many.point.point), "series": name, "gain": each.gain, "cores": each.cores}
            for name, each in zip(names, pairs, strict=True)]
    rows = [[each.title, f"x {each.gain:.3f}", f"{each.per_core:.1%}"] for each in pairs]
    table = TableData("Gain over one core", ("test", ">total", ">per core"), rows,
                      "Total: all cores together over the single core; 2 would be perfect on two cores, below 1 the second core "
                      "costs more than it brings. Per core: the paper's normalised throughput.")
    chart = ChartData("gain", data, "Total throughput with two cores over that with one; 1 is no gain, 2 is perfect.")
    return Section("gain", "What the second core brings", (), (chart,), (table,))


def cycles_section(points: Sequence[Measured]) -> Section | None:
    """Where the cycles went, per core."""
    rows, data = [], []
    for test, series, point in _named(points):
        for share in shares(point):
            row = f"{test}, {series}, core {share.core}"
            cells = []
            for part in PARTS:
                value = share.parts[part] / share.cycles
                cells.append(f"{value:.1%}" if share.parts[part] else "-")
                data.append({"row": row, "part": part, "order": PARTS.index(part), "share": value, "test": test})
            rows.append([test, series, str(share.core), *cells])
    if not rows:
        return None
    used = [index for index, part in enumerate(PARTS) if part != "other" or any(row[3 + index] != "-" for row in rows)]
    table = TableData("Cycles of the window by cause", ("test", "run with", "core", *(f">{PARTS[index]}" for index in used)),
                      [[*row[:3], *(row[3 + index] for index in used)] for row in rows],
                      "From the virtual board, without touching the image. Kernel: its functions without the waits named beside "
                      "it. Spinlock wait: from the first failed read of a lock to the successful one.")
    chart = ChartData("cycles", data, "Share of each core's cycles in the window by cause.")
    return Section("cycles", "Where the cycles went", (), (chart,), (table,))


def locks_section(points: Sequence[Measured]) -> Section | None:
    """Per lock and core: the explanation that the paper argues for."""
    rows = []
    for test, series, point in _named(points):
        for cost in lock_costs(point):
            use = cost.use
            rows.append([test, series, str(use.core), f"{use.lock} ({use.name})", f"{use.acquisitions:,}", f"{cost.contended_part:.1%}",
                         f"{use.wait_cycles:,}", f"{cost.wait_cycles_per_count:,.1f}", f"{cost.hold_cycles_mean:,.1f}"])
    if not rows:
        return None
    table = TableData("Hardware spinlocks", ("test", "run with", "core", "lock", ">acquisitions", ">contended", ">wait cycles",
                                             ">wait cycles per count", ">mean hold cycles"), rows,
                      "Contended: the share of acquisitions that found the lock taken first.")
    return Section("locks", "Waiting for spinlocks", (), (), (table,))


def functions_section(points: Sequence[Measured]) -> Section | None:
    """The kernel functions with the most cycles in each test."""
    rows = []
    for test, series, point in _named(points):
        total = sum(core.cycles for core in point.virtual.cores) if point.virtual else 0
        counts = sum(share.counts for share in shares(point))
        rows += [[test, series, each.name, each.kind, f"{each.cycles / total:.1%}", f"{each.cycles / counts:,.1f}",
                  f"{each.entries / counts:,.2f}", f"{each.cycles / each.entries:,.1f}" if each.entries else "-"]
                 for each in top_functions(point, TOP_FUNCTIONS) if each.cycles / total >= 0.005]  # noqa: PLR2004
    if not rows:
        return None
    table = TableData("Kernel functions", ("test", "run with", "function", "class", ">of all cycles", ">cycles per count",
                                           ">calls per count", ">cycles per call"), rows,
                      "All cores together, waits included; functions below 0.5 % are left out.")
    return Section("functions", "Kernel functions", (), (), (table,), folded=True)


def memory_section(points: Sequence[Measured]) -> Section | None:
    """Heap peaks, like the paper's figure 19, and stacks."""
    rows, data, stacks = [], [], []
    for test, series, point in _named(points):
        if point.heap:
            data.append({"test": test, "series": series, "bytes": point.heap.peak_bytes})
            rows.append([point.point.title, series, f"{point.heap.peak_bytes:,}", f"{point.heap.size_bytes:,}", f"{point.heap.allocations:,}"])
        stacks += [[test, series, str(each.core), each.name, f"{each.used_bytes:,}", f"{each.size_bytes:,}"] for each in point.stacks]
    tables = []
    if rows:
        tables.append(TableData("Heap", ("test", "run with", ">peak, bytes", ">size, bytes", ">allocations"), rows))
    if stacks:
        tables.append(TableData("Stacks", ("test", "run with", "core", "task", ">used, bytes", ">size, bytes"), stacks))
    if not tables:
        return None
    charts = (ChartData("heap", data, "Highest use of the kernel's heap in bytes, by test and number of cores."),) if data else ()
    return Section("memory", "Memory", (), charts, tables)


def paper_section(points: Sequence[Measured], suite: Suite | None) -> Section | None:
    """The paper's orderings, computed again, and what to know of it."""
    if suite is None:
        return None
    verdicts = judge_claims(suite.claim, points)
    rows = [[each.claim.section, each.claim.says, each.outcome, each.seen] for each in verdicts]
    tables = [TableData(f"{suite.paper}: its statements and this run", ("section", "the paper says", "here", "seen"), rows)] if rows else []
    return Section("paper", "Against the paper", suite.notes, (), tables)


def proofs_section(points: Sequence[Measured], failed: Sequence[Failed]) -> Section | None:
    """Every proof: what it demanded, what was seen."""
    measured = _named(points)
    rows = [[test, series, each.rule, each.demands, each.saw, each.verdict.value]
            for test, series, point in measured for each in point.proofs]
    rows += [[short_test(point.point), core_words(point.point.cores), each.rule, each.demands, each.saw, each.verdict.value]
             for point in failed for each in point.proofs]
    if not rows:
        return None
    table = TableData("Proofs", ("test", "run with", "rule", "demands that", "seen", "verdict"), rows)
    prose = ("A test whose proof fails gives an error, not a number. Seen from what the kernel did (probes on its symbols, which "
             "the image does not notice) and from the firmware's own counters.",)
    return Section("proofs", "Proof that each test did what its name says", prose, (), (table,))


def rulers_section(points: Sequence[Measured]) -> Section | None:
    """What measuring costs, and whether two instruments agree."""
    rulers, effects = [], []
    for test, series, point in _named(points):
        rulers += [[test, series, each.name, str(each.core), str(each.count), f"{each.minimum}", f"{each.median:g}",
                    f"{each.maximum} (repeat {each.maximum_at})", each.unit] for each in ruler_costs(point)]
        effect = probe_effect(point)
        if effect:
            loop = "-" if effect.loop_cycles_per_count is None else f"{effect.loop_cycles_per_count:.2f}"
            effects.append([test, series, f"{effect.timer_us:,.0f}", f"{effect.observed_us:,.2f}", f"{effect.difference_us:+.2f}", loop])
    tables = []
    if effects:
        tables.append(TableData("The window by two instruments", ("test", "run with", ">timer, us", ">observed, us", ">difference, us",
                                                                  ">empty loop, cycles per count"), effects,
                                "Timer: the firmware's own 1 us stamps. Observed: from the store that opens the window to the one "
                                "that closes it. The empty loop (run flag, count, branch) is inside every count and is not subtracted."))
    if rulers:
        tables.append(TableData("Empty measurements", ("test", "run with", "ruler", "core", ">repeats", ">minimum", ">median", ">maximum",
                                                       "unit"), rulers))
    return Section("rulers", "Rulers and probe effect", (), (), tables, folded=True) if tables else None
