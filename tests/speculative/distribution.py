"""Which sequences does sampling emit, and how often? Every case and its exact law.

`sample` runs in worker processes, so faults are named and injected there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from markov import LENGTH, PROMPT, SEQUENCES, Drawn, Markov, Remembering, Setting
from numpy.typing import NDArray
from scipy.stats import chisquare

from hsd_docparse.speculative import (
    AlignedText,
    Budget,
    Controller,
    Dense,
    Drafter,
    DraftTree,
    EntropyAware,
    EntropyStop,
    Fixed,
    FrequencyPenalty,
    Greedy,
    MaxLength,
    Mixture,
    ModelDrafter,
    Outcome,
    Pool,
    PromptLookup,
    RejectionThreshold,
    RepetitionPenalty,
    Request,
    Sampler,
    Sampling,
    Stop,
    Verdict,
    Verifier,
    run,
)
from hsd_docparse.speculative.verifiers import entropy_aware, mixture, sampling

TARGET = Markov(1)
DRAFT = Markov(2)
SMALLER = Markov(3)
SHARP = Markov(1, 30.0)
"""All mass on one atom."""

MANY = 200_000
SOME = 25_000
"""Where the verifier is one that another case has tried."""

Make = Callable[[np.random.Generator], Drafter[int]]
Law = NDArray[np.float64]


class AfterAll:
    """Ends after `LENGTH` atoms, and does not say so before: drafts go on as if there were more."""

    reason = "length"

    def ends(self, output: Sequence[int], length: int) -> bool:
        return length >= LENGTH


@dataclass(frozen=True)
class Case:
    make: Make
    setting: Setting = field(default_factory=Setting)
    verifier: Verifier[int] | None = None
    """Lossless sampling unless given."""
    controller: Callable[[], Controller[int]] = lambda: Fixed(Budget(chain=3, depth=3))
    law: Callable[[], Law] | None = None
    """The target's unless given."""
    target: Markov = TARGET
    count: int = MANY
    stop: Stop[int] = field(default_factory=AfterAll)

    def exact(self) -> Law:
        return self.law() if self.law else self.setting.sequences(self.target)


def short(depth: int) -> Callable[[], Controller[int]]:
    return lambda: Fixed(Budget(chain=depth, depth=depth))


def drawn(setting: Setting, model: Markov = DRAFT, **tree: Any) -> Make:
    return lambda rng: Drawn(model, setting, rng, **tree)


def by_model(setting: Setting, inner: Make | None = None, **options: Any) -> Make:
    def make(rng: np.random.Generator) -> Drafter[int]:
        return ModelDrafter(
            DRAFT,
            PROMPT,
            sampler=setting.sampler,
            processors=setting.processors,
            drafter=inner(rng) if inner else None,
            rng=rng,
            **options,
        )

    return make


def mixed(weight: float) -> Law:
    """The law of sequences where every atom is drawn from ``w p + (1 - w) q``."""
    p, q = Setting(), Setting()
    chance = np.ones(len(SEQUENCES))
    for i, sequence in enumerate(SEQUENCES):
        for at in range(LENGTH):
            own, drafts = p.law(TARGET, sequence[:at]), q.law(DRAFT, sequence[:at])
            v = weight * own.probabilities + (1 - weight) * drafts.probabilities
            chance[i] *= v[sequence[at]]
    return chance


plain = Setting()
truncated = Setting(Remembering(temperature=0.7, top_k=3, top_p=0.95, min_p=0.02))
penalised = Setting(
    Remembering(temperature=1.3), (RepetitionPenalty(2.0, PROMPT), FrequencyPenalty(0.6, 0.4))
)
TEXT = (3, 0, 3, 1, 2, 2, 0)

CASES: dict[str, Case] = {
    "chain of one": Case(drawn(plain), controller=short(1), count=SOME),
    "chain": Case(drawn(plain)),
    "chain, cut at the end": Case(drawn(plain), stop=MaxLength(LENGTH), count=SOME),
    "chain, truncated": Case(drawn(truncated), truncated),
    "chain, penalties": Case(drawn(penalised), penalised),
    "chain, draft of other settings": Case(
        drawn(Setting(Remembering(0.5, top_k=2))), penalised, count=SOME
    ),
    "chain, one-hot draft": Case(drawn(plain, SHARP), count=SOME),
    "tree with replacement": Case(drawn(plain, width=2), controller=short(2)),
    "tree without replacement": Case(drawn(plain, width=2, replace=False), controller=short(2)),
    "tree, penalties": Case(drawn(penalised, width=2), penalised, controller=short(2), count=SOME),
    "fixed text": Case(lambda rng: AlignedText([TEXT]), penalised, count=SOME),
    "lookup": Case(lambda rng: PromptLookup((*TEXT, *PROMPT)), truncated),
    "model": Case(by_model(plain), count=SOME),
    "model, settings": Case(by_model(penalised), penalised, count=SOME),
    "greedy model": Case(lambda rng: ModelDrafter(DRAFT, PROMPT), penalised, count=SOME),
    "hierarchical": Case(by_model(plain, drawn(plain, SMALLER)), count=SOME),
    "pool": Case(
        lambda rng: Pool(
            [Drawn(DRAFT, plain, rng), AlignedText([TEXT]), Drawn(SMALLER, plain, rng, width=2)]
        ),
        count=SOME,
    ),
    "entropy stop": Case(
        by_model(plain),
        controller=lambda: EntropyStop(Budget(chain=3), threshold=0.5, aim=0.5),
        count=SOME,
    ),
    "rejection threshold": Case(
        by_model(plain),
        controller=lambda: RejectionThreshold(Budget(chain=3), threshold=0.4),
        count=SOME,
    ),
    "entropy-aware, infinite thresholds": Case(
        drawn(plain), verifier=EntropyAware(np.inf, np.inf, 0.0, 2, sampler=Remembering())
    ),
    "mixture, all target": Case(drawn(plain), verifier=Mixture(1.0, Remembering())),
    "mixture": Case(drawn(plain), verifier=Mixture(0.4, Remembering()), law=lambda: mixed(0.4)),
}


class Steps:
    """How many steps there were, and how many ended with a draw from a residual."""

    def __init__(self) -> None:
        self.all = self.rejected = 0

    def on_commit(self, outcome: Outcome[int]) -> None:
        self.all += 1
        self.rejected += outcome.verdict.tested > len(outcome.verdict.path)


def sample(
    name: str, seed: int, count: int, fault: str | None = None
) -> tuple[Counter[tuple[int, ...]], int, int]:
    """``count`` sequences, the number of steps, and of those with a rejection."""
    case = CASES[name]
    rng = np.random.default_rng(seed)
    verifier = case.verifier or Sampling(case.setting.sampler)
    controller = case.controller()
    seen: Counter[tuple[int, ...]] = Counter()
    steps = Steps()
    with pytest.MonkeyPatch.context() as patch:
        if fault:
            FAULTS[fault](patch)
        for _ in range(count):
            (state,) = case.target.open([PROMPT])
            request = Request(
                state,
                case.make(rng),
                [case.stop],
                verifier,
                case.setting.processors,
                controller,
                [steps],
                rng,
            )
            run(case.target, [request])
            seen[tuple(request.output)] += 1
    return seen, steps.all, steps.rejected


def chi_square(seen: Counter[tuple[int, ...]], law: Law) -> float:
    """How likely counts at least as odd as those ``seen`` are under ``law``."""
    counts = np.array([seen[sequence] for sequence in SEQUENCES], float)
    assert counts.sum() == sum(seen.values())
    expected = law * counts.sum()
    if counts[law == 0].sum():
        return 0.0
    few = expected < 8
    counts = np.append(counts[~few], counts[few].sum())
    expected = np.append(expected[~few], expected[few].sum())
    possible = expected > 0
    return float(chisquare(counts[possible], expected[possible]).pvalue)


Patch = pytest.MonkeyPatch


def the_correction_is_drawn_from_the_target(patch: Patch) -> None:
    for module in (sampling, mixture, entropy_aware):
        patch.setattr(module, "residual", lambda p, q, atom: p)


def a_fresh_atom_replaces_the_match(patch: Patch) -> None:
    """Sample and match, where the atom that did not match is drawn again."""
    residual = sampling.residual
    patch.setattr(
        sampling, "residual", lambda p, q, atom: residual(p, q, atom) if q is not None else p
    )


def the_bonus_is_drawn_from_the_draft(patch: Patch) -> None:
    verify = Sampling.verify

    def mutant(self: Sampling, tree: Any, scores: Any, rng: Any) -> Verdict[int]:
        verdict = verify(self, tree, scores, rng)
        law = tree.law(verdict.path[-1]) if verdict.path else None
        if law is not None and verdict.tested == len(verdict.path):
            verdict.correction = law.sample(rng)
        return verdict

    patch.setattr(Sampling, "verify", mutant)


def the_best_atom_is_returned_for_a_drawn_one(patch: Patch) -> None:
    patch.setattr(Dense, "sample", lambda self, rng: int(self.probabilities.argmax()))


def the_target_ignores_the_sampling_settings(patch: Patch) -> None:
    patch.setattr(Sampler, "law", lambda self, scores, row: Dense.softmax(scores.logits[row]))


def a_greedy_draft_states_the_softmax(patch: Patch) -> None:
    start = ModelDrafter.__init__

    def mutant(self: ModelDrafter, *args: Any, **options: Any) -> None:
        start(self, *args, **options)
        self.request.verifier = Greedy()

    patch.setattr(ModelDrafter, "__init__", mutant)


def the_draft_is_drawn_at_another_temperature(patch: Patch) -> None:
    start = ModelDrafter.__init__

    def mutant(self: ModelDrafter, *args: Any, **options: Any) -> None:
        start(self, *args, **options)
        self.request.verifier = Sampling(Sampler(0.4))

    patch.setattr(ModelDrafter, "__init__", mutant)


def unlikely_atoms_are_dropped_unverified(patch: Patch) -> None:
    """The draft ends before the atom that made it end, not behind it."""
    propose = ModelDrafter.propose

    def mutant(self: ModelDrafter, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        answers = [False]

        def enough(atoms: Any, laws: Any) -> bool:
            answers.append(budget.enough is not None and budget.enough(atoms, laws))
            return answers[-1]

        tree = propose(self, output, replace(budget, enough=enough))
        if not answers[-1]:
            return tree
        return DraftTree(tree.atoms[:-1], tree.parents[:-1], (tree.laws or ())[:-1])

    patch.setattr(ModelDrafter, "propose", mutant)


def siblings_do_not_share_the_target(patch: Patch) -> None:
    """Every sibling is judged as if it were the only one."""

    def mutant(self: Sampling, tree: Any, scores: Any, rng: Any) -> Verdict[int]:
        path: list[int] = []
        tested = 0
        while True:
            node = path[-1] if path else -1
            p = left = self.sampler.law(scores, node + 1)
            for child in tree.children(node):
                tested += 1
                if sampling.accepts(p, tree.law(child), tree.atoms[child], rng):
                    path.append(child)
                    break
                left = sampling.residual(p, tree.law(child), tree.atoms[child])
            else:
                return Verdict(path, left.sample(rng), tested)

    patch.setattr(Sampling, "verify", mutant)


def the_second_sibling_states_the_law_of_the_first(patch: Patch) -> None:
    """Drawn without replacement, and said to be drawn with it."""
    propose = Drawn.propose

    def mutant(self: Drawn, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        tree = propose(self, output, budget)
        first = [tree.law(tree.children(parent)[0]) for parent in tree.parents]
        return DraftTree(tree.atoms, tree.parents, first)

    patch.setattr(Drawn, "propose", mutant)


def penalties_know_the_committed_text_only(patch: Patch) -> None:
    for kind in (RepetitionPenalty, FrequencyPenalty):
        call = kind.__call__

        def mutant(
            self: Any, logits: Any, sequence: Any, tree: Any, call: Any = call
        ) -> np.ndarray:
            rows = [call(self, row[None].copy(), sequence, DraftTree.empty()) for row in logits]
            return np.concatenate(rows)

        patch.setattr(kind, "__call__", mutant)


def the_mixture_corrects_from_the_target(patch: Patch) -> None:
    patch.setattr(
        mixture,
        "residual",
        lambda v, q, atom: Dense((v.probabilities - 0.6 * q.probabilities) / 0.4),
    )


FAULTS: dict[str, Callable[[Patch], None]] = {
    name: fault
    for name, fault in list(globals().items())
    if callable(fault) and getattr(fault, "__annotations__", {}).get("patch") == "Patch"
}

FOUND_BY: dict[str, list[str]] = {
    "the_correction_is_drawn_from_the_target": [
        "chain",
        "chain, one-hot draft",
        "chain, cut at the end",
        "chain, draft of other settings",
        "tree with replacement",
        "model",
        "pool",
        "entropy-aware, infinite thresholds",
        "mixture, all target",
    ],
    "a_fresh_atom_replaces_the_match": ["fixed text", "lookup", "greedy model"],
    "the_bonus_is_drawn_from_the_draft": ["chain of one"],
    "the_best_atom_is_returned_for_a_drawn_one": ["fixed text", "chain"],
    "the_target_ignores_the_sampling_settings": ["chain, truncated", "model, settings"],
    "a_greedy_draft_states_the_softmax": ["model", "entropy stop"],
    "the_draft_is_drawn_at_another_temperature": ["model", "hierarchical"],
    "unlikely_atoms_are_dropped_unverified": ["rejection threshold"],
    "siblings_do_not_share_the_target": ["tree with replacement", "tree, penalties"],
    "the_second_sibling_states_the_law_of_the_first": ["tree without replacement"],
    "penalties_know_the_committed_text_only": ["chain, penalties", "tree, penalties"],
    "the_mixture_corrects_from_the_target": ["mixture"],
}
