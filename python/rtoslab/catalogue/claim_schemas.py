"""The strict form of a paper's statements (`[[claim]]` in claims.toml): the sentence, its figures, and its judge.

A rule must test all cases of a statement, and both sides of a bound. So a claim lists all its cases, and every bound
says where it comes from.

    [[claim]]
    id = "t4_t5_one_core"
    section = "5.3"
    says = "in T4 and T5 on one core FreeRTOS has a small lead over NuttX"
    words = "small advantage"
    kind = "ratio"
    where = { metric = "throughput", stat = "total", cores = 1 }
    across = { benchmark = ["t4_interrupt", "t5_interrupt_preemption"] }
    of = [{ kernel = "freertos" }, { kernel = "nuttx" }]
    at_least = 1.0
    at_most = 1.2
    bound_from = "times; ours for the paper's small"
"""

from collections.abc import Mapping
from itertools import product
from typing import Final, Literal, NamedTuple

from pydantic import Field, model_validator

from rtoslab.base import StrictFileSchemaModel

AxisPlaces = dict[str, str | int]
"""Axis -> where a value is on it. The axes are those of `analyses.axis_values.MeasuredValue.coordinate_on_axis`."""
AxisChoices = Mapping[str, str | int | tuple[str | int, ...]]
"""Axis -> the places where values may be on it."""


class PaperClaim(StrictFileSchemaModel):
    """One statement of a paper that is checked, from claims.toml. `analyses.claim_rules` has the rule of each kind."""

    id: str
    section: str
    says: str
    """The statement in our words."""
    words: str = ""
    """The paper's own words for direction and size, translated. A few words, no sentence."""
    rows: tuple[int, ...] = ()
    """Ids of published.csv where it stands."""
    kind: Literal[
        "ascending",
        "least",
        "most",
        "rank",
        "ratio",
        "between",
        "near_others",
        "beaten",
        "alike",
        "distinct",
        "varies",
        "no_spread",
        "spread",
        "same_in_all_placements",
        "same_ranking",
        "first_step_largest",
        "steps_shrink",
        "gradual",
        "not computed",
    ]
    why: str = ""
    """For kind `not computed`: why no figure of ours can judge it."""
    where: dict[str, str | int | tuple[str | int, ...]] = Field(default_factory=dict)
    """The axes that all its values share. An axis that it joins or follows has a list of places."""
    of: tuple[AxisPlaces, ...] = ()
    """Where each value that the rule compares lies, in the rule's order."""
    at: tuple[AxisPlaces, ...] = ()
    """The cases of the statement: places at which it must hold, each on its own. Empty: one case."""
    across: dict[str, tuple[str | int, ...]] = Field(default_factory=dict)
    """Further axes of the cases: every combination, at each place of `at`, is a case."""
    over: AxisPlaces = Field(default_factory=dict)
    """Each value counts as a share of the value at this place, alike in all other axes."""
    join: tuple[str, ...] = ()
    """Axes over which several values at one place become one, by `join_by`. Else several values are an error."""
    join_by: Literal["median", "geometric mean"] = "median"
    along: str = ""
    """The axis of a sequence of values."""
    leaders: int = 1
    """The leaders of `least` and `most`: how many of `of`, from the first on, lead the others."""
    place: int = 0
    """The place of `rank`: which place the first of `of` has among all, counted from the smallest value, 1."""
    at_least: float | None = Field(default=None, allow_inf_nan=False)
    """The lower bound. Each kind says of what."""
    at_most: float | None = Field(default=None, allow_inf_nan=False)
    """The upper bound."""
    first_below: float | None = None
    """For `ascending`: the first value must be below this, as the share that is kept does where
    something is lost."""
    last_above: float | None = None
    """For `ascending`: the last value must be above this, as a ratio does where something leads."""
    unit: Literal["", "s", "ms", "us", "ns", "cycles"] = ""
    """The unit of the bounds of a time: `us`, `ns` or `cycles`; empty: as the values are."""
    bound_from: str = ""
    """The quantity of the bounds and their source: the paper's words, or our reading of them with the reason."""
    rests_on: str = ""
    """A condition that decides the verdict and that the paper does not state."""

    @property
    def cases(self) -> list[AxisPlaces]:
        """Returns the coordinates of each case in which the paper's statement must hold, such as one kernel."""
        axes = [[(axis, place) for place in places] for axis, places in self.across.items()]
        return [{**place, **dict(steps)} for place in self.at or ({},) for steps in product(*axes)]

    @property
    def kernels(self) -> list[str]:
        """Returns every kernel that the paper's statement names, in the order of the file."""
        places: list[AxisChoices] = [*self.of, self.where, self.over, *self.cases]
        named = [place["kernel"] for place in places if "kernel" in place]
        several = (item if isinstance(item, tuple) else (item,) for item in named)
        return list(dict.fromkeys(str(kernel) for item in several for kernel in item))

    @model_validator(mode="after")
    def _require_keys_of_statement_kind(self) -> "PaperClaim":
        """Raises ValueError for a statement that lacks a key which its kind needs, or has one that its kind does not
        know."""
        if (self.kind == "not computed") != bool(self.why):
            raise ValueError("a claim needs `why` if it is of kind `not computed`, and only then")
        bounded = self.at_least is not None or self.at_most is not None
        if bounded != bool(self.bound_from):
            raise ValueError(f"a claim of kind {self.kind} needs both a bound and bound_from, or neither")
        if self.kind in BOUNDED and not bounded:
            raise ValueError(f"a claim of kind {self.kind} needs both a bound and bound_from")
        if (self.kind == "rank") != bool(self.place):
            raise ValueError("a claim needs `place` if it is of kind `rank`, and only then")
        if self.kind != "not computed":
            self._require_form_of_kind(FORMS[self.kind])
        return self

    def _require_form_of_kind(self, form: "ClaimForm") -> None:
        """Raises ValueError if the statement has keys or a number of values that its kind does not use."""
        unused = {
            "at_least": self.at_least is not None and not form.at_least,
            "at_most": self.at_most is not None and not form.at_most,
            "along": bool(self.along) and not form.along,
            "leaders": self.leaders != 1 and self.kind not in {"least", "most"},
            "first_below": self.first_below is not None and self.kind != "ascending",
            "last_above": self.last_above is not None and self.kind != "ascending",
        }
        for key in (key for key, is_unused in unused.items() if is_unused):
            raise ValueError(f"a claim of kind {self.kind} does not use `{key}`")
        if form.along and not self.along:
            raise ValueError(f"a claim of kind {self.kind} needs `along`")
        if not form.fewest <= len(self.of) <= (form.most or len(self.of)):
            number = f"{form.fewest}" if form.fewest == form.most else f"at least {form.fewest}"
            number = f"at most {form.most}" if not form.fewest else number
            raise ValueError(f"a claim of kind {self.kind} compares {number} values, but `of` has {len(self.of)}")
        if not 1 <= self.leaders < max(len(self.of), 2) or self.place > len(self.of):
            raise ValueError("`leaders` and `place` of a claim count the values of `of`")
        if len({tuple(sorted(place.items())) for place in self.of}) != len(self.of):
            raise ValueError("two values of `of` have the same place, so the claim compares a value with itself")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError("`at_least` of a claim is larger than `at_most`, so it can never hold")
        if any(not places for places in self.across.values()):
            raise ValueError("an axis of `across` has no places, so the claim has no case")


class ClaimForm(NamedTuple):
    """The form of a kind of claim: how many values it compares, and which keys it uses."""

    fewest: int = 0
    most: int | None = None
    """The least and the largest number of members of `of`. None: any number."""
    at_least: bool = False
    at_most: bool = False
    along: bool = False


FORMS: Final = {
    "ascending": ClaimForm(2, at_least=True, at_most=True),
    "least": ClaimForm(2),
    "most": ClaimForm(2),
    "rank": ClaimForm(2, at_least=True, at_most=True),
    "ratio": ClaimForm(2, 2, at_least=True, at_most=True),
    "between": ClaimForm(at_least=True, at_most=True),
    "near_others": ClaimForm(2, at_least=True, at_most=True),
    "beaten": ClaimForm(2),
    "alike": ClaimForm(2, at_most=True),
    "distinct": ClaimForm(2),
    "varies": ClaimForm(2, at_least=True),
    "no_spread": ClaimForm(),
    "spread": ClaimForm(),
    "same_in_all_placements": ClaimForm(at_most=True),
    "same_ranking": ClaimForm(2, 2, at_least=True, along=True),
    "first_step_largest": ClaimForm(0, 1, at_least=True, along=True),
    "steps_shrink": ClaimForm(0, 1, at_most=True, along=True),
    "gradual": ClaimForm(0, 1, at_most=True, along=True),
}
"""The form of each kind of claim that is computed."""


BOUNDED: Final = frozenset(
    {
        "ratio",
        "between",
        "near_others",
        "alike",
        "varies",
        "same_in_all_placements",
        "same_ranking",
        "first_step_largest",
        "steps_shrink",
        "gradual",
    }
)
"""Kinds that need a bound."""
TIMED: Final = frozenset(
    {"ascending", "least", "most", "rank", "ratio", "between", "alike", "distinct", "no_spread", "spread"}
)
"""Kinds that may compare times, and then need the resolution of the paper's instrument."""


class PaperInstrumentTimeResolution(StrictFileSchemaModel):
    """The smallest difference of two times that a paper's instrument can show."""

    seconds: float = Field(ge=0)
    source: str


class ClaimFile(StrictFileSchemaModel):
    """The content of `papers/<key>/claims.toml`."""

    claim: tuple[PaperClaim, ...] = ()
