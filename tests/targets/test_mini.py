"""docparse-mini as a target: exact under speculation, alone and in batches."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import tiny_mini
import torch

from hsd_docparse.speculative import AlignedText, DraftTree, NoDraft, Request, run, step
from hsd_docparse.targets.mini import modeling
from hsd_docparse.targets.mini.dialect import (
    BLOCKS,
    CELLS,
    EOS,
    JOIN,
    PAGE,
    REGION,
    SPECIAL,
    Gaze,
    Hint,
)
from hsd_docparse.targets.mini.target import MiniInputs

PROMPTS = [(9, 1, PAGE), (4, 2, REGION), (14, 3, PAGE), (2, 11, REGION)]


def decode(inputs: list[MiniInputs], drafts: list[list[list[int]]]) -> tuple[list[list[int]], int]:
    target = tiny_mini.target()
    states = target.open(inputs)
    requests = [
        Request(
            state,
            AlignedText(draft) if draft else NoDraft(),
            target.stops(each),
            processors=target.processors(each),
        )
        for state, each, draft in zip(states, inputs, drafts, strict=True)
    ]
    calls = run(target, requests)
    return [request.output for request in requests], calls


@pytest.fixture(scope="module")
def cases() -> list[tuple[MiniInputs, list[int]]]:
    """Inputs, and what plain greedy decoding makes of each alone."""
    inputs = [tiny_mini.inputs(*prompt) for prompt in PROMPTS]
    return [(each, decode([each], [[]])[0][0]) for each in inputs]


def test_outputs_are_worth_comparing(cases: list[tuple[MiniInputs, list[int]]]) -> None:
    pointers = {t for _, out in cases for t in out if t >= tiny_mini.dialect().vocabulary}
    assert len(pointers) >= 3
    assert min(len(set(out)) for _, out in cases) >= 3


def damaged(text: list[int], how: str) -> list[list[int]]:
    rng = np.random.default_rng(len(text))
    size = tiny_mini.dialect().vocabulary
    return {
        "right": [text],
        "empty": [[]],
        "truncated": [text[: len(text) // 2]],
        "shuffled": [rng.permutation(text).tolist()],
        "pieces": [text[30:], text[8:20], text[:10]],
        "noisy": [[t if rng.random() < 0.8 else int(rng.integers(0, size)) for t in text]],
        "wrong": [rng.integers(0, size, len(text)).tolist()],
        "pointing nowhere": [[size + 500 if i % 7 == 3 else t for i, t in enumerate(text)]],
        "ungrammatical": [[JOIN if i % 5 == 2 else t for i, t in enumerate(text)]],
    }[how]


@pytest.mark.parametrize(
    "how",
    ["right", "empty", "truncated", "shuffled", "pieces", "noisy", "wrong", "pointing nowhere",
     "ungrammatical"],
)  # fmt: skip
def test_any_draft_gives_the_greedy_output(
    cases: list[tuple[MiniInputs, list[int]]], how: str
) -> None:
    for inputs, plain in cases:
        (output,), calls = decode([inputs], [damaged(plain, how)])
        assert output == plain
        assert how != "right" or calls <= len(plain) / 3


def test_a_ragged_batch_is_every_row_alone(cases: list[tuple[MiniInputs, list[int]]]) -> None:
    for order in ([0, 1, 2, 3], [3, 1, 0, 2], [2, 2, 1]):
        inputs = [cases[i][0] for i in order]
        drafts = [
            damaged(cases[i][1], ["noisy", "right", "pieces"][n % 3]) for n, i in enumerate(order)
        ]
        outputs, _ = decode(inputs, drafts)
        assert outputs == [cases[i][1] for i in order]


def test_a_kept_cache_scores_like_a_fresh_one(cases: list[tuple[MiniInputs, list[int]]]) -> None:
    """Both the keys and what follows from them: where the model looks, what it has seen."""
    target = tiny_mini.target()
    inputs, plain = cases[2]
    (state,) = target.open([inputs])
    request = Request(state, AlignedText(damaged(plain, "noisy")), target.stops(inputs))
    for _ in range(6):
        step(target, [request])
    probe = DraftTree.merge(
        [[5, 20, 300], [5, 21], [tiny_mini.dialect().vocabulary, 6]], nodes=9, depth=3
    )
    (kept,) = target.score([state], [probe])
    (fresh_state,) = target.open([inputs])
    done = len(request.output)
    whole = DraftTree(
        [*request.output, *probe.atoms],
        [*range(-1, done - 1), *(done - 1 if p < 0 else done + p for p in probe.parents)],
    )
    (fresh,) = target.score([fresh_state], [whole])
    assert torch.allclose(kept.logits, fresh.logits[done:], atol=1e-10)


def test_a_narrow_window_forgets_and_stays_exact() -> None:
    target = tiny_mini.target(window=8)
    inputs = tiny_mini.inputs(9, 1, PAGE)

    def output(draft: list[list[int]]) -> list[int]:
        (state,) = target.open([inputs])
        request = Request(state, AlignedText(draft) if draft else NoDraft(), target.stops(inputs))
        run(target, [request])
        return request.output

    plain = output([])
    assert plain != decode([inputs], [[]])[0][0]
    assert output([plain]) == plain
    assert output(damaged(plain, "noisy")) == plain


def test_every_output_keeps_the_grammar(cases: list[tuple[MiniInputs, list[int]]]) -> None:
    """The model is random, so that only its grammar can be the reason."""
    dialect = tiny_mini.dialect()
    for inputs, output in cases:
        pointers = [t for t in output if t >= dialect.vocabulary]
        assert len(pointers) == len(set(pointers))
        gaze = Gaze()
        for before, token in pairwise([inputs.prompt, *output]):
            assert token not in BLOCKS | CELLS or before >= dialect.vocabulary
            assert before != JOIN or token >= dialect.vocabulary or token == EOS
            gaze = dialect.advance(gaze, token)
            if gaze.line >= 0:
                glyphs = len(inputs.sight.readings[gaze.line].text)
                assert gaze.character <= glyphs * 3 // 2 + 16
            else:
                assert token < len(SPECIAL)


def test_sorting_lines_by_length_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    target = tiny_mini.target()
    inputs = [tiny_mini.inputs(9, 1, PAGE), tiny_mini.inputs(30, 5, PAGE)]
    draft = DraftTree.chain([tiny_mini.dialect().vocabulary + 3, *range(20, 40)])

    def logits() -> list[torch.Tensor]:
        states = target.open(inputs)
        return [scores.logits for scores in target.score(states, [draft, draft])]

    together = logits()
    monkeypatch.setattr(modeling, "SMALL", 0)
    monkeypatch.setattr(modeling, "EDGES", (2, 5, 9))
    for one, other in zip(together, logits(), strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_no_output_ends_before_every_line_of_text_is_read(
    cases: list[tuple[MiniInputs, list[int]]],
) -> None:
    ended = 0
    for inputs, output in cases:
        if output[-1] != EOS:
            continue
        ended += 1
        for line, (hint, _) in enumerate(inputs.sight.hints):
            y = inputs.sight.geometry[line, [1, 3]].mean()
            if hint > Hint.FURNITURE and (inputs.prompt == REGION or 0.08 < y < 0.92):
                assert tiny_mini.dialect().vocabulary + line in output
    assert ended


def test_running_headers_and_footers_are_not_read(
    cases: list[tuple[MiniInputs, list[int]]],
) -> None:
    outside = 0
    for inputs, output in cases:
        for line in (inputs.sight.hints[:, 0] == Hint.FURNITURE).nonzero()[0]:
            outside += 1
            assert tiny_mini.dialect().vocabulary + line not in output
    assert outside


def test_a_line_behind_a_formula_that_is_not_seen_opens_a_block(
    cases: list[tuple[MiniInputs, list[int]]],
) -> None:
    """Whatever the draft says of it, and with drafts as without."""
    vocabulary = tiny_mini.dialect().vocabulary
    continued = 0
    for inputs, plain in cases:
        goes_on = [
            line - vocabulary
            for line, after in pairwise(plain)
            if line >= vocabulary and after not in BLOCKS
        ]
        parted = replace(inputs, behind_formulas=frozenset(goes_on))
        (output,), _ = decode([parted], [[]])
        (sped,), _ = decode([parted], [damaged(plain, "noisy")])
        assert output == sped
        for line, after in pairwise(output):
            if line - vocabulary in goes_on:
                assert after in BLOCKS
                continued += 1
    assert continued
