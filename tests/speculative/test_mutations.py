"""Do the checks of `identity` bite? Faults that engines have shipped, injected one at a time.

Each must be found by the check named beside it, and a check that is not about a fault may
pass: a mask that lets siblings see each other harms no chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import identity
import numpy as np
import pytest
import torch
import toy
from identity import (
    check_cache,
    check_chains,
    check_penalty,
    check_ragged,
    check_rewind,
    check_stops,
    check_subsets,
    check_trees,
)
from torch import Tensor

from hsd_docparse.speculative import (
    DraftTree,
    Greedy,
    RepetitionPenalty,
    Request,
    Scores,
    StopTokens,
    Verdict,
    engine,
)
from hsd_docparse.speculative.cache import SlotCache, SlotLayer
from hsd_docparse.speculative.tree import ROOT

Patch = pytest.MonkeyPatch
Check = Callable[[], None]

keep = SlotCache.keep
rewind = SlotCache.rewind
select = SlotCache.select
announce = SlotCache._announce
tree_mask = SlotCache.tree_mask
prompt_mask = SlotCache.prompt_mask
move = SlotLayer.move
update = SlotLayer.update
verify = Greedy.verify
penalise = RepetitionPenalty.__call__


def rejected_tokens_stay_live(patch: Patch) -> None:
    def mutant(self: SlotCache, row: int, path: Sequence[int]) -> None:
        keep(self, row, range(self.writing.width - 1))

    patch.setattr(SlotCache, "keep", mutant)


def accepted_tokens_are_dropped(patch: Patch) -> None:
    """A reset where a rollback was due."""
    patch.setattr(SlotCache, "keep", lambda self, row, path: keep(self, row, []))


def the_pending_token_is_taken_for_cached(patch: Patch) -> None:
    """The last drafted token and the bonus both wait; only one of them is fed."""

    def mutant(self: SlotCache, row: int, path: Sequence[int]) -> None:
        keep(self, row, path)
        self.lengths[row] -= 1

    patch.setattr(SlotCache, "keep", mutant)


def nodes_are_kept_one_slot_off(patch: Patch) -> None:
    def mutant(self: SlotCache, row: int, path: Sequence[int]) -> None:
        keep(self, row, [node - 1 for node in path])

    patch.setattr(SlotCache, "keep", mutant)


def branches_stay_where_they_were_scored(patch: Patch) -> None:
    patch.setattr(SlotLayer, "move", lambda self, row, sources, start: None)


def the_values_of_branches_stay_behind(patch: Patch) -> None:
    def mutant(self: SlotLayer, row: int, sources: list[int], start: int) -> None:
        values = self.values
        assert values is not None
        before = values.clone()
        move(self, row, sources, start)
        values.copy_(before)

    patch.setattr(SlotLayer, "move", mutant)


def the_slot_is_the_position(patch: Patch) -> None:
    def mutant(self: SlotCache, trees: Any, rows: Any = None) -> Tensor:
        sees = tree_mask(self, trees, rows)
        self.queries = torch.tensor(self.writing.starts)[:, None] + torch.arange(sees.shape[2])
        return sees

    patch.setattr(SlotCache, "tree_mask", mutant)


def all_rows_share_one_offset(patch: Patch) -> None:
    def mutant(self: SlotCache, trees: Any, rows: Any = None) -> Tensor:
        sees = tree_mask(self, trees, rows)
        starts = torch.tensor(self.writing.starts)
        self.queries = self.queries + (starts.max() - starts)[:, None]
        return sees

    patch.setattr(SlotCache, "tree_mask", mutant)


def short_rows_are_written_behind_the_longest(patch: Patch) -> None:
    """Every row appends where the longest one ends, and is read from there as if aligned."""

    def mutant(self: SlotCache, rows: Sequence[int], width: int) -> None:
        announce(self, rows, width)
        self.writing.starts = [self.writing.end - width] * len(rows)

    patch.setattr(SlotCache, "_announce", mutant)


def every_call_reads_the_first_rows(patch: Patch) -> None:
    def mutant(self: SlotLayer, keys: Tensor, values: Tensor, *rest: object) -> Any:
        first, second = update(self, keys, values)
        end = self.writing.end
        assert self.keys is not None
        assert self.values is not None
        return self.keys[: len(first), :, :end], self.values[: len(second), :, :end]

    patch.setattr(SlotLayer, "update", mutant)


def one_atom_too_few_is_taken_back(patch: Patch) -> None:
    patch.setattr(SlotCache, "rewind", lambda self, row, count: rewind(self, row, count - 1))


def the_node_number_is_the_depth(patch: Patch) -> None:
    patch.setattr(DraftTree, "depths", lambda self: np.arange(1, len(self) + 1))


def siblings_see_each_other(patch: Patch) -> None:
    patch.setattr(DraftTree, "ancestry", lambda self: np.tri(len(self), dtype=np.bool_))


def padding_is_known_by_its_token(patch: Patch) -> None:
    """In drafts, where the padding token is a token like any other."""

    def mutant(self: SlotCache, trees: Sequence[DraftTree[int]], rows: Any = None) -> Tensor:
        sees = tree_mask(self, trees, rows)
        for row, (tree, start) in enumerate(zip(trees, self.writing.starts, strict=True)):
            for node, atom in enumerate(tree.atoms):
                if atom == toy.PAD:
                    sees[row, 0, :, start + 1 + node] = False
                    sees[row, 0, 1 + node, start + 1 + node] = True
        return sees

    patch.setattr(SlotCache, "tree_mask", mutant)


def the_padding_of_prompts_is_cached(patch: Patch) -> None:
    def mutant(self: SlotCache, lengths: Sequence[int]) -> Tensor:
        sees = prompt_mask(self, lengths)
        self.lengths = [max(lengths)] * len(lengths)
        return sees

    patch.setattr(SlotCache, "prompt_mask", mutant)


def the_wrong_row_leaves(patch: Patch) -> None:
    patch.setattr(SlotCache, "select", lambda self, rows: select(self, range(len(rows))))


def the_bonus_comes_from_the_draft(patch: Patch) -> None:
    def mutant(self: Greedy, tree: Any, scores: Scores, rng: Any) -> Verdict[int]:
        verdict = verify(self, tree, scores, rng)
        tip = verdict.path[-1] if verdict.path else ROOT
        drafted = [atom for atom, p in zip(tree.atoms, tree.parents, strict=True) if p == tip]
        return Verdict(verdict.path, [*drafted, verdict.correction][0], verdict.tested)

    patch.setattr(Greedy, "verify", mutant)


def rejection_comes_one_step_late(patch: Patch) -> None:
    """The rejected token goes, but what the target says after it is emitted."""

    def mutant(self: Greedy, tree: Any, scores: Scores, rng: Any) -> Verdict[int]:
        verdict = verify(self, tree, scores, rng)
        tip = verdict.path[-1] if verdict.path else ROOT
        if tip in tree.parents:
            rejected = list(tree.parents).index(tip)
            verdict.correction = int(scores.logits[rejected + 1].argmax())
        return verdict

    patch.setattr(Greedy, "verify", mutant)


def rows_are_read_one_off(patch: Patch) -> None:
    """Node i is judged by the scores after itself, not by those after its parent."""

    def mutant(self: Greedy, tree: Any, scores: Scores, rng: Any) -> Verdict[int]:
        shifted = torch.cat([scores.logits[1:], scores.logits[-1:]])
        return verify(self, tree, Scores(shifted), rng)

    patch.setattr(Greedy, "verify", mutant)


def the_penalty_does_not_know_the_draft(patch: Patch) -> None:
    def mutant(self: Any, logits: Tensor, sequence: Sequence[int], tree: Any) -> Tensor:
        none = DraftTree[int].empty()
        return torch.cat([penalise(self, row[None], sequence, none) for row in logits])

    patch.setattr(RepetitionPenalty, "__call__", mutant)


def the_penalty_knows_the_whole_draft(patch: Patch) -> None:
    def mutant(self: Any, logits: Tensor, sequence: Sequence[int], tree: Any) -> Tensor:
        none = DraftTree[int].empty()
        return penalise(self, logits, [*sequence, *tree.atoms], none)

    patch.setattr(RepetitionPenalty, "__call__", mutant)


def stops_are_looked_for_behind_blocks_only(patch: Patch) -> None:
    def mutant(target: Any, request: Request[Any], tree: Any, scores: Scores, seconds: Any) -> None:
        verdict = request.verifier.verify(tree, scores, request.rng)
        block = [*(tree.atoms[node] for node in verdict.path), verdict.correction]
        request.output += block
        request.finished = engine._reason(request)
        target.keep(request.state, verdict.path, verdict.correction)
        request.statistics.calls += 1

    patch.setattr(engine, "_advance", mutant)


def what_stands_behind_the_stop_is_emitted(patch: Patch) -> None:
    """The end is found inside the block, and the rest of the block comes all the same."""
    advance = engine._advance

    def mutant(target: Any, request: Request[Any], tree: Any, scores: Scores, seconds: Any) -> None:
        before = len(request.output)
        verdict = request.verifier.verify(tree, scores, request.rng)
        advance(target, request, tree, scores, seconds)
        request.output[before:] = [*(tree.atoms[i] for i in verdict.path), verdict.correction]

    patch.setattr(engine, "_advance", mutant)


def only_one_stop_token_is_known(patch: Patch) -> None:
    patch.setattr(
        StopTokens, "ends", lambda self, output, length: output[length - 1] == min(self.tokens)
    )


FOUND_BY: dict[Callable[[Patch], None], list[Check]] = {
    rejected_tokens_stay_live: [check_chains, check_trees, check_ragged, check_cache],
    accepted_tokens_are_dropped: [check_chains, check_trees, check_ragged, check_cache],
    the_pending_token_is_taken_for_cached: [check_chains, check_ragged, check_cache],
    nodes_are_kept_one_slot_off: [check_chains, check_trees, check_cache],
    the_slot_is_the_position: [check_trees, check_ragged, check_cache],
    all_rows_share_one_offset: [check_ragged, check_cache],
    the_node_number_is_the_depth: [check_trees, check_cache],
    siblings_see_each_other: [check_trees, check_cache],
    padding_is_known_by_its_token: [check_chains],
    the_padding_of_prompts_is_cached: [check_ragged, check_cache],
    the_wrong_row_leaves: [check_ragged, check_subsets],
    branches_stay_where_they_were_scored: [check_trees, check_cache, check_rewind],
    the_values_of_branches_stay_behind: [check_trees, check_cache],
    short_rows_are_written_behind_the_longest: [check_ragged, check_cache],
    every_call_reads_the_first_rows: [check_subsets],
    one_atom_too_few_is_taken_back: [check_rewind],
    the_bonus_comes_from_the_draft: [check_chains, check_trees],
    rejection_comes_one_step_late: [check_chains, check_trees],
    rows_are_read_one_off: [check_chains, check_trees],
    the_penalty_does_not_know_the_draft: [check_penalty],
    the_penalty_knows_the_whole_draft: [check_penalty],
    stops_are_looked_for_behind_blocks_only: [check_stops],
    what_stands_behind_the_stop_is_emitted: [check_stops],
    only_one_stop_token_is_known: [check_stops],
}
CHECKS = [check for name, check in vars(identity).items() if name.startswith("check_")]
MEETINGS = [(mutate, check) for mutate, checks in FOUND_BY.items() for check in checks]


@pytest.mark.parametrize("check", CHECKS)
def test_without_a_fault_every_check_passes(check: Check) -> None:
    check()


@pytest.mark.parametrize(
    ("mutate", "check"), MEETINGS, ids=[f"{m.__name__}-{c.__name__}" for m, c in MEETINGS]
)
def test_the_fault_is_found(
    mutate: Callable[[Patch], None], check: Check, monkeypatch: Patch
) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        check()


def test_every_check_finds_something() -> None:
    assert {check for checks in FOUND_BY.values() for check in checks} == set(CHECKS)


@pytest.mark.parametrize("mutate", [siblings_see_each_other, the_node_number_is_the_depth])
def test_faults_of_trees_spare_chains(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    """Chains alone would have let these pass."""
    mutate(monkeypatch)
    check_chains()
