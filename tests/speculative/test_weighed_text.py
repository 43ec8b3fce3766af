"""A draft that says how sure it is: where it is weighed, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import toy

from hsd_docparse.speculative import (
    Budget,
    Ensemble,
    Fixed,
    Greedy,
    HeldBack,
    MaxLength,
    Peaked,
    Request,
    Resume,
    Tolerance,
    Verifier,
    WeighedText,
    run,
)

LENGTH = 40
PROMPTS = toy.prompts([6, 9, 4], 3)


def damaged(text: Sequence[int], seed: int, share: float = 0.2) -> tuple[list[int], list[Peaked]]:
    """``text`` with some tokens replaced, lost or doubled, and random certainties."""
    rng = np.random.default_rng(seed)
    draft: list[int] = []
    for token in text:
        kind = rng.random() / share
        if kind < 1 / 2:
            draft.append(int(rng.integers(toy.VOCABULARY)))
        elif kind < 3 / 4:
            draft += [token, token]
        elif kind >= 1:
            draft.append(token)
    return draft, [Peaked(token, float(rng.uniform(0.05, 1))) for token in draft]


def output(
    prompt: tuple[int, ...], verifier: Verifier[int], drafter: WeighedText, chain: int = 16
) -> list[int]:
    target = toy.ToyTarget()
    (state,) = target.open([prompt])
    budget = Budget(chain=chain, depth=chain)
    request = Request(state, drafter, [MaxLength(LENGTH)], verifier, controller=Fixed(budget))
    run(target, [request])
    # Nothing can be drafted for the last token.
    return request.output[:-1]


def by_hand(
    prompt: tuple[int, ...],
    draft: list[int],
    beliefs: list[Peaked],
    w: float,
    resume: Resume = lambda place, said: None,
) -> list[int]:
    """One forward pass a token, and the argmax of the whole mixture."""
    said: list[int] = []
    place: int | None = 0
    left = strayed = 0
    while len(said) < LENGTH - 1:
        if place is None:
            place = found_again(draft, said, left, strayed)
        logits = toy.MODEL.plain([*prompt, *said])[-1].numpy()
        p = np.exp(logits - logits.max())
        v = p / p.sum()
        if place is not None and place < len(draft):
            q = np.full(len(p), (1 - beliefs[place].mass) / (len(p) - 1))
            q[draft[place]] = beliefs[place].mass
            v = w * v + (1 - w) * q
        said.append(int(v.argmax()))
        strayed += 1
        if place is not None:
            left = place
            follows = place < len(draft) and draft[place] == said[-1]
            left += follows
            place = left if follows else resume(place, said)
            strayed = int(not follows)
        else:
            place = resume(None, said)
    return said


def found_again(draft: list[int], said: list[int], left: int, strayed: int) -> int | None:
    def same(end: int) -> int:
        length = 0
        while length < min(10, end, len(said)) and draft[end - 1 - length] == said[-1 - length]:
            length += 1
        return length

    near = [
        end
        for end in range(left, min(left + 16, len(draft)) + 1)
        if min(same(end), strayed - 1) >= 3
    ]
    far = [end for end in range(1, len(draft) + 1) if same(end) == 10]
    return near[0] if near else far[0] if len(far) == 1 else None


@pytest.mark.parametrize("w", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("chain", [1, 5, 16])
def test_the_output_is_the_argmax_of_the_mixture(w: float, chain: int) -> None:
    departed = 0
    for seed, prompt in enumerate(PROMPTS):
        plain = toy.greedy(prompt, LENGTH)
        draft, beliefs = damaged(plain, seed)
        got = output(prompt, HeldBack(Ensemble(w)), WeighedText(draft, beliefs), chain)
        assert got == by_hand(prompt, draft, beliefs, w)
        departed += got != plain[:-1] and got != draft[: LENGTH - 1]
    assert departed or w in (0.1, 0.9), "target and draft must both have had a say"


@pytest.mark.parametrize("chain", [1, 5, 16])
def test_where_the_draft_is_known_to_go_on_it_has_a_say_again_at_once(chain: int) -> None:
    """Some tokens say where the draft goes on, whatever was said before."""
    gained = 0
    for seed, prompt in enumerate(PROMPTS):
        plain = toy.greedy(prompt, LENGTH)
        draft, beliefs = damaged(plain, seed, 0.5)
        behind = {token: i + 1 for i, token in enumerate(draft) if token % 3 == 0}

        def resume(
            place: int | None, said: Sequence[int], behind: dict[int, int] = behind
        ) -> int | None:
            return behind.get(said[-1])

        drafter = WeighedText(draft, beliefs, resume)
        got = output(prompt, HeldBack(Ensemble(0.5)), drafter, chain)
        assert got == by_hand(prompt, draft, beliefs, 0.5, resume)
        gained += got != by_hand(prompt, draft, beliefs, 0.5)
    assert gained


@pytest.mark.parametrize("strict", [Ensemble(1.0), Tolerance(1.0, believed=True), Greedy()])
@pytest.mark.parametrize("chain", [1, 16])
def test_the_strictest_setting_is_what_the_target_says_alone(
    strict: Verifier[int], chain: int
) -> None:
    for seed, prompt in enumerate(PROMPTS):
        plain = toy.greedy(prompt, LENGTH)
        drafter = WeighedText(*damaged(plain, seed))
        assert output(prompt, HeldBack(strict), drafter, chain) == plain[:-1]


def test_without_a_weight_of_the_target_the_draft_is_the_output() -> None:
    for seed, prompt in enumerate(PROMPTS):
        draft = np.random.default_rng(seed).integers(0, toy.VOCABULARY, LENGTH).tolist()
        drafter = WeighedText(draft, [Peaked(token, 0.3) for token in draft])
        assert output(prompt, HeldBack(Ensemble(0.0)), drafter) == draft[:-1]


def test_what_is_nearly_as_good_passes_only_where_the_draft_has_a_belief() -> None:
    near = HeldBack(Tolerance(1e-4, believed=True))
    passed = 0
    for seed, prompt in enumerate(PROMPTS):
        plain = toy.greedy(prompt, LENGTH)
        draft, beliefs = damaged(plain, seed, 0.5)
        outputs = [output(prompt, near, WeighedText(draft, beliefs), chain) for chain in (1, 4, 16)]
        assert outputs[0] == outputs[1] == outputs[2], "it does not matter where drafts are cut"
        passed += outputs[0] != plain[:-1]
        unsure = WeighedText(draft, [None] * len(draft))
        assert output(prompt, near, unsure) == plain[:-1]
    assert passed


def test_a_phrase_of_another_line_is_no_place_to_go_on_at() -> None:
    """Three tokens stand only far behind the departure: what follows there has no belief."""
    text = [*range(100, 110), *range(200, 240), 1, 2, 3, 4, 5, 6]
    drafter = WeighedText(text, [Peaked(token, 0.9) for token in text])
    target = toy.Oracle([*range(100, 105), 1, 2, 3, 9])
    (state,) = target.open([None])
    request = Request(state, drafter, [MaxLength(8)], HeldBack(Greedy()))
    run(target, [request])
    assert drafter.place is None
    guess = drafter.propose(request.output, Budget())
    assert guess.belief(0) is None
    far = [*range(100, 105), *range(225, 235)]
    assert drafter.propose(far, Budget()).belief(0) == Peaked(235, 0.9)


def test_of_two_places_the_nearer_one_is_where_to_go_on() -> None:
    """The further one matches earlier, because the output has departed to what stands there."""
    text = [10, 11, 12, 1, 5, 6, 7, 30, 31, 2, 5, 6, 7, 40, 41]
    drafter = WeighedText(text, [Peaked(token, 0.9) for token in text])
    target = toy.Oracle([10, 11, 12, 2, 5, 6, 7, 30, 31, 9])
    (state,) = target.open([None])
    run(target, [Request(state, drafter, [MaxLength(9)], HeldBack(Greedy()))])
    assert drafter.place == text.index(31) + 1
