"""Hierarchical speculative decoding of a page (arXiv 2602.12957).

Stage 1: the target verifies the drafts of all regions in one ragged batch, each against its
own part of the picture. Stage 2: it verifies the whole page against the set of what stage 1
said. The page pass decides order, joins and structure, and alone decides the output: in
``lossless`` mode that is, token for token, the target's greedy decoding of the page, whatever
the drafts were. Good drafts only make it come sooner.

The modes ``near`` and ``ensemble`` let the draft have a say. Their output depends on the draft,
so it is the pipeline's own, and the page pass alone verifies it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from hsd_docparse.confidence import of_regions
from hsd_docparse.document import FURNITURE, Page, Region, Speculation
from hsd_docparse.speculative import (
    AlignedText,
    Doubling,
    Drafter,
    Ensemble,
    HeldBack,
    MaxLength,
    NoDraft,
    Outcome,
    Peaked,
    Request,
    Tolerance,
    Verifier,
    WeighedText,
    run,
)
from hsd_docparse.wording import counted

if TYPE_CHECKING:
    from PIL import Image

    from hsd_docparse.convert import Mode
    from hsd_docparse.targets import DocumentTarget, WeighedDraft

TAU = 0.75
"""Share of the best probability that a drafted token needs in mode ``near``, as in the paper."""
WEIGHT = 0.5
"""Of the target in mode ``ensemble``; the draft has the rest."""

Stages = Literal["both", "page", "regions", "none"]
"""``both``: full HSD. ``page``: the page against the pipeline's drafts. ``regions``: stage 1
alone, joined in the draft's order (fast, and not the target's own page). ``none``: plain
greedy decoding."""

UNFINISHED = frozenset({"loop", "length"})
"""Reasons of a stop that say the target lost its way."""


@dataclass
class Reading:
    """What a target made of a page: the output tokens and how they came about.

    ``finished`` is the reason of the stop. ``seconds``: ``see`` (vision encoder and
    prefill), ``regions`` (stage 1, its own seeing included), ``page`` (stage 2) and
    ``fastest_call`` (of stage 2). ``committed``: tokens that each call of stage 2 gave.
    ``lossless``: the output is the target's own; ``changed``: tokens of it that are the draft's
    where the target would have gone on with another.
    """

    output: list[int]
    finished: str
    lossless: bool = False
    changed: int = 0
    region_outputs: dict[int, list[int]] = field(default_factory=dict)
    accepted: int = 0
    proposed: int = 0
    region_calls: int = 0
    page_calls: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    committed: list[int] = field(default_factory=list)


class _Calls:
    """Observes what each call of a pass gave, how many tokens of it are not the target's argmax,
    and how long the fastest took."""

    def __init__(self, lossless: bool) -> None:
        self.lossless = lossless
        self.committed: list[int] = []
        self.changed = 0
        self.fastest = math.inf

    def on_commit(self, outcome: Outcome[int]) -> None:
        if not self.lossless:
            best = outcome.scores.logits.argmax(-1).tolist()
            rows = [0, *(node + 1 for node in outcome.verdict.path)]
            self.changed += sum(
                best[row] != token for row, token in zip(rows, outcome.emitted, strict=False)
            )
        self.committed.append(len(outcome.emitted))
        self.fastest = min(self.fastest, outcome.seconds.scoring)


@dataclass
class StageChoice:
    """Whether stage 1 pays on this machine with this target, from what both ways cost.

    The first pages try both ways in turn; then the cheaper one a token is taken, and the
    other is tried again on one page in `RETRY`, since documents change.
    """

    RETRY = 16

    cost: dict[Stages, float] = field(default_factory=dict)
    pages: int = 0

    def choose(self, regions: int) -> Stages:
        """For a page with ``regions`` regions; a page of one has nothing to gain."""
        if regions < 2:
            return "page"
        self.pages += 1
        ways: list[Stages] = ["page", "both"]
        missing = [way for way in ways if way not in self.cost]
        if missing:
            return missing[0]
        best, other = sorted(ways, key=lambda way: self.cost[way])
        return other if self.pages % self.RETRY == 0 else best

    def learn(self, stages: Stages, reading: Reading) -> None:
        """Moving average of seconds a token over the stages' decoding."""
        spent = reading.seconds.get("regions", 0.0) + reading.seconds.get("page", 0.0)
        new = spent / max(1, len(reading.output))
        old = self.cost.get(stages, new)
        self.cost[stages] = 0.7 * old + 0.3 * new


def verify_page(
    target: DocumentTarget,
    image: Image.Image,
    page: Page,
    *,
    mode: Mode = "lossless",
    choice: StageChoice | None = None,
) -> Page:
    """The page as ``target`` reads it. A page that it cannot read keeps its draft, and says so.

    ``image`` is the picture of the whole page, at any resolution. In mode ``lossless`` the stages
    are picked by measured cost, with a ``choice``, and otherwise both run.
    """
    left = sum(bool(region.lines) and not target.covers(region) for region in page.regions)
    if not has_text_for(target, page):
        # Nothing to read: a model asked about a blank page invents.
        return page if not left else replace(page, warnings=[*page.warnings, _left(target, left)])
    stages: Stages = choice.choose(len(page.regions)) if choice else "both"
    if mode != "lossless":
        stages, choice = "page", None
    try:
        reading = read(target, image, page, stages, mode)
        regions = target.regions(page, reading.output)
    except Exception as error:
        warning = f"Verification failed ({error}); the page shows its draft."
        return replace(page, warnings=[*page.warnings, warning])
    if choice:
        choice.learn(stages, reading)
    speculation = Speculation(
        target.name, mode, reading.lossless, len(reading.output), reading.accepted,
        reading.proposed, reading.region_calls, reading.page_calls, reading.seconds, reading.notes,
        reading.committed, reading.changed,
    )  # fmt: skip
    if left:
        speculation.notes.append(_left(target, left))
    if stages == "page":
        speculation.notes.append("Stage 1 was not run on this page.")
    if reading.finished in UNFINISHED:
        what = "went in a loop" if reading.finished == "loop" else "found no end"
        warning = f"The target {what}; the page shows its draft."
        return replace(page, warnings=[*page.warnings, warning], speculation=speculation)
    lost = left_out(page.regions, regions)
    warnings = list(page.warnings)
    if lost:
        warnings.append(f"The target left out {counted(lost, 'line')} of the draft.")
    return replace(
        page,
        regions=regions,
        warnings=warnings,
        speculation=speculation,
        confidence=of_regions(regions),
    )


def has_text_for(target: DocumentTarget, page: Page) -> bool:
    """Whether ``page`` has lines in a region that ``target`` was made for."""
    return any(region.lines and target.covers(region) for region in page.regions)


def _left(target: DocumentTarget, regions: int) -> str:
    kind = f"of a kind that {target.name} does not read"
    return f"The draft stands for {counted(regions, 'region')} {kind}."


def left_out(draft: Sequence[Region], verified: Sequence[Region]) -> int:
    """Lines of the draft's running text that the verified regions do not hold."""
    kept = {line.box for region in verified for line in region.lines}
    lines = [line for region in draft if region.kind not in FURNITURE for line in region.lines]
    return sum(line.box not in kept for line in lines)


def read(
    target: DocumentTarget,
    image: Image.Image,
    page: Page,
    stages: Stages = "both",
    mode: Mode = "lossless",
) -> Reading:
    """Decode ``page``; raises what the target raises. ``stages`` are those of mode ``lossless``."""
    clock = time.perf_counter()
    inputs = target.page_inputs(image, page)
    seen = time.perf_counter() - clock
    if mode != "lossless":
        reading = decode(target, inputs, *weighing(target.weighed_draft(page), mode))
        reading.seconds["see"] += seen
        return reading
    regions = Reading([], "stop")
    if stages in ("both", "regions"):
        _read_regions(target, image, page, regions)
    drafts = target.page_drafts(page, regions.region_outputs) if stages != "none" else []
    if stages == "regions":
        regions.output = [token for text in drafts for token in text]
        regions.seconds["see"] = seen
        return regions
    reading = decode(target, inputs, aligned(drafts))
    reading.seconds["see"] += seen
    return replace(
        reading,
        region_outputs=regions.region_outputs,
        region_calls=regions.region_calls,
        seconds=regions.seconds | reading.seconds,
        notes=regions.notes,
    )


def aligned(drafts: Sequence[Sequence[int]]) -> Drafter[int]:
    """For verification against ``drafts``, an unordered set; with none it is plain decoding."""
    return AlignedText(drafts) if drafts else NoDraft()


def weighing(draft: WeighedDraft, mode: Mode) -> tuple[Drafter[int], Verifier[int]]:
    """For a mode in which ``draft`` has a say: none inside tables and formulas in mode ``near``."""
    pairs = zip(draft.tokens, draft.probabilities, strict=True)
    beliefs: list[Peaked | None] = [Peaked(token, sure) for token, sure in pairs]
    if mode == "ensemble":
        return WeighedText(draft.tokens, beliefs), HeldBack(Ensemble(WEIGHT))
    beliefs = [None if e else belief for e, belief in zip(draft.exact, beliefs, strict=True)]
    return WeighedText(draft.tokens, beliefs), HeldBack(Tolerance(TAU, believed=True))


def decode(
    target: DocumentTarget,
    inputs: Any,
    drafter: Drafter[int],
    verifier: Verifier[int] | None = None,
    *,
    most: int | None = None,
) -> Reading:
    """Stage 2: verify a page against what ``drafter`` proposes, losslessly without another
    ``verifier``. ``most`` cuts the output off after so many tokens."""
    clock = time.perf_counter()
    (state,) = target.open([inputs])
    opened = time.perf_counter()
    request = _request(target, inputs, state, drafter)
    request.verifier = verifier or request.verifier
    observed = _Calls(request.lossless)
    request.observers = [observed]
    if most is not None:
        request.stops = [*request.stops, MaxLength(most)]
    calls = run(target, [request])
    return Reading(
        request.output,
        request.finished or "stop",
        lossless=request.lossless,
        changed=observed.changed,
        accepted=request.statistics.accepted,
        proposed=request.statistics.proposed,
        page_calls=calls,
        seconds={
            "see": opened - clock,
            "page": time.perf_counter() - opened,
            "fastest_call": observed.fastest,
        },
        committed=observed.committed,
    )


def _read_regions(target: DocumentTarget, image: Image.Image, page: Page, reading: Reading) -> None:
    """Stage 1. Regions that fail keep their draft, and say so."""
    clock = time.perf_counter()
    regions = target.readable(page)
    inputs = target.region_inputs(image, page, regions)
    states = target.open(inputs) if regions else []
    requests = [
        _request(target, i, state, aligned([target.region_draft(page, region)]))
        for i, state, region in zip(inputs, states, regions, strict=True)
    ]
    reading.region_calls = run(target, requests)
    for region, request in zip(regions, requests, strict=True):
        if request.finished in UNFINISHED:
            reading.notes.append(
                f"Region {region + 1} fell back to its draft ({request.finished})."
            )
        else:
            reading.region_outputs[region] = request.output
    reading.seconds["regions"] = time.perf_counter() - clock


def _request(
    target: DocumentTarget, inputs: Any, state: Any, drafter: Drafter[int]
) -> Request[int]:
    return Request(
        state,
        drafter,
        target.stops(inputs),
        processors=target.processors(inputs),
        controller=Doubling(target.budget),
    )
