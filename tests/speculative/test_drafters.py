"""What each drafter proposes, and that drafts of models keep their own books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
import toy

from hsd_docparse.speculative import (
    Ahead,
    AlignedText,
    Budget,
    CopySpec,
    Drafter,
    DraftTree,
    Fixed,
    KlJudge,
    MaxLength,
    ModelDrafter,
    NoDraft,
    Outcome,
    Pool,
    PromptLookup,
    RejectionThreshold,
    Request,
    Sampler,
    Sampling,
    Scores,
    Statistics,
    SuffixDecoding,
    SuffixTree,
    Verdict,
    run,
)
from hsd_docparse.speculative.drafters import copyspec
from hsd_docparse.speculative.invariants import Recomputing

LENGTH = 40


def proposed(drafter: Drafter[int], output: Sequence[int], **budget: int) -> list[int]:
    tree = drafter.propose(output, Budget(**budget))
    assert list(tree.parents) == list(range(-1, len(tree) - 1)), "no chain"
    return list(tree.atoms)


# --- Lookups ---


def test_prompt_lookup_copies_from_behind_the_latest_whole_place_of_the_longest_match() -> None:
    drafter = PromptLookup([1, 2, 3, 9, 8, 2, 3, 7, 6, 5, 1, 2], longest=3)
    assert proposed(drafter, [3], chain=3) == [9, 8, 2]  # 1 2 3, though 2 3 stands later
    assert proposed(drafter, [3, 4, 2, 3], chain=3) == [4, 2, 3]  # 2 3 at its latest
    assert proposed(drafter, [3, 4, 2, 3], chain=4) == [7, 6, 5, 1]  # 4 2 3 is less than four
    assert proposed(drafter, [3, 4, 2, 3], chain=20) == drafter.text[3:]  # the first place
    assert proposed(drafter, [3, 4, 2, 3, 11], chain=3) == []


def test_prompt_lookup_needs_the_shortest_at_least() -> None:
    assert proposed(PromptLookup([1, 5, 6], shortest=2), [7, 1]) == []
    assert proposed(PromptLookup([1, 5, 6], shortest=1), [7, 1]) == [5, 6, 7, 1]
    assert proposed(PromptLookup(), []) == []


def test_prompt_lookup_is_what_a_search_finds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        text = rng.integers(0, 4, 60).tolist()
        drafter = PromptLookup(text[:10])
        for end in range(11, 60, int(rng.integers(1, 5))):
            found: list[int] = []
            for length in (3, 2, 1):
                tail = text[end - length : end]
                places = [i for i in range(length, end) if text[i - length : i] == tail]
                if places:
                    whole = [i for i in places if i + 5 <= end]
                    place = whole[-1] if whole else places[0]
                    found = text[place : min(end, place + 5)]
                    break
            assert proposed(drafter, text[10:end], chain=5) == found


def test_copyspec_copies_from_behind_the_first_place_of_the_last_tokens() -> None:
    drafter = CopySpec([1, 2, 3, 9, 8, 1, 2, 3, 7, 1, 2], gamma=3, block=4)
    assert proposed(drafter, [3]) == [9, 8, 1, 2]
    assert proposed(drafter, [3], chain=2) == [9, 8]
    assert proposed(drafter, [3, 5]) == []


def test_copyspec_compares_tokens_where_hashes_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copyspec, "MODULUS", 3)
    rng = np.random.default_rng(1)
    text = rng.integers(0, 5, 300).tolist()
    drafter = CopySpec(text[:20], gamma=2, block=3)
    copied = 0
    for end in range(21, 300):
        draft = proposed(drafter, text[20:end])
        copied += bool(draft)
        places = [i for i in range(2, end) if text[i - 2 : i] == text[end - 2 : end]]
        assert not draft or any(draft == text[i : i + 3][: len(draft)] for i in places)
    assert copied > 20


def test_copyspec_finds_what_a_search_finds() -> None:
    text = np.random.default_rng(2).integers(0, 3, 200).tolist()
    drafter = CopySpec(text[:5], gamma=3, block=6)
    for end in range(6, 200):
        first = next(i for i in range(3, end + 1) if text[i - 3 : i] == text[end - 3 : end])
        assert proposed(drafter, text[5:end]) == text[first : min(end, first + 6)]


def test_copyspec_leaves_the_rest_to_another_drafter() -> None:
    drafter = CopySpec([1, 2, 3], otherwise=AlignedText([[7, 8, 9, 6]]))
    assert proposed(drafter, [7, 8, 9]) == [6]


# --- Suffix trees ---


def counts_of(texts: Sequence[Sequence[int]], longest: int) -> Counter[tuple[int, ...]]:
    return Counter(
        tuple(text[i : i + n])
        for text in texts
        for n in range(1, longest + 1)
        for i in range(len(text) - n + 1)
    )


def test_the_suffix_tree_counts_every_substring() -> None:
    rng = np.random.default_rng(0)
    for trial in range(40):
        texts = [rng.integers(0, 3, rng.integers(1, 25)).tolist() for _ in range(1 + trial % 3)]
        texts += texts[:1]
        tree = SuffixTree()
        for text in texts:
            for token in text:
                tree.append(token)
            tree.end_text()
        for string, count in counts_of(texts, 6).items():
            state = 0
            for token in string:
                state = tree.states[state].after[token]
            assert tree.states[state].count == count, (texts, string)
        assert len(tree.states) <= 2 * sum(map(len, texts))


def test_following_a_text_keeps_the_longest_match() -> None:
    rng = np.random.default_rng(3)
    past = rng.integers(0, 3, 40).tolist()
    tree = SuffixTree()
    for token in past:
        tree.append(token)
    strings = set(counts_of([past], 40))
    state, length = 0, 0
    text: list[int] = []
    for token in rng.integers(0, 4, 60).tolist():
        text.append(token)
        state, length = tree.follow(state, length, token)
        longest = max(
            (n for n in range(len(text)) if tuple(text[len(text) - n :]) in strings), default=0
        )
        assert length == longest


def test_suffix_decoding_proposes_what_was_frequent() -> None:
    drafter = SuffixDecoding([1, 2, 5, 1, 2, 5, 1, 2, 6, 1], factor=2.0)
    tree = drafter.propose([2], Budget(depth=2))
    # Two of three times 5 came, and then 1; once 6.
    level = {tree.atoms[i] for i, parent in enumerate(tree.parents) if parent == -1}
    assert level == {5, 6}
    assert tree.atoms[0] == 5
    assert max(tree.depths()) == 2
    unlikely = SuffixDecoding([1, 2, 5, 1, 2, 5, 1, 2, 6, 1], least=0.34).propose([2], Budget())
    assert 5 in unlikely.atoms
    assert 6 not in [unlikely.atoms[i] for i, p in enumerate(unlikely.parents) if p == -1]


def test_a_longer_match_is_trusted_further() -> None:
    text = list(range(40))
    for length in (1, 3, 9):
        drafter = SuffixDecoding(text, factor=2.0)
        budget = Budget(depth=64)
        assert len(drafter.propose([99, *text[:length]], budget)) == 2 * length + 1


def test_past_requests_draft_too() -> None:
    past = SuffixTree()
    for token in [4, 5, 6, 7, 8]:
        past.append(token)
    past.end_text()
    assert SuffixDecoding([1], past).propose([4, 5], Budget()).atoms[:2] == [6, 7]
    assert len(SuffixDecoding([1]).propose([4, 5], Budget())) == 0
    assert len(SuffixDecoding([1], past).propose([], Budget())) == 0


def test_suffix_drafts_are_exact_in_a_real_decoding() -> None:
    past = SuffixTree()
    for seed in range(4):
        (prompt,) = toy.prompts([5], seed % 2)
        truth = toy.greedy(prompt, LENGTH)
        target = toy.ToyTarget()
        (state,) = target.open([prompt])
        request = Request(state, SuffixDecoding(prompt, past), [MaxLength(LENGTH)])
        run(target, [request])
        assert request.output == truth
        if seed > 1:  # the same page again
            assert request.statistics.accepted > LENGTH / 2
        for token in request.output:
            past.append(token)
        past.end_text()


# --- Models ---


def drafted(make: Any, length: int = LENGTH, **parts: Any) -> tuple[Request[int], ModelDrafter]:
    """Decode the toy with drafts from another one, both of which are recomputed at every call."""
    (prompt,) = toy.prompts([6], seed=11)
    target = Recomputing(toy.ToyTarget())
    drafter = make(prompt)
    inner = drafter.drafter if isinstance(drafter, Ahead) else drafter
    (state,) = target.open([prompt])
    parts.setdefault("controller", Fixed(Budget(chain=4, depth=4, nodes=6)))
    request = Request(state, drafter, [MaxLength(length)], **parts)
    run(target, [request])
    drafter.propose(request.output, Budget(chain=0))
    drafter.close()
    return request, inner


def other() -> Recomputing:
    return Recomputing(toy.ToyTarget(toy.Transformer(5)))


MODELS: dict[str, Any] = {
    "another": lambda prompt: ModelDrafter(other(), prompt),
    "the same": lambda prompt: ModelDrafter(Recomputing(toy.ToyTarget()), prompt),
    "with beliefs": lambda prompt: ModelDrafter(other(), prompt, beliefs=True),
    "hierarchical": lambda prompt: ModelDrafter(
        Recomputing(toy.ToyTarget()),
        prompt,
        drafter=toy.Hidden(toy.greedy(prompt, LENGTH), 3, right=0.8, nodes=6, tree=True),
    ),
    "ahead": lambda prompt: Ahead(ModelDrafter(other(), prompt)),
    "ahead, the same": lambda prompt: Ahead(ModelDrafter(Recomputing(toy.ToyTarget()), prompt), 7),
}


@pytest.mark.parametrize("name", MODELS)
def test_model_drafts_change_nothing_and_keep_their_caches(name: str) -> None:
    request, drafter = drafted(MODELS[name])
    (prompt,) = toy.prompts([6], seed=11)
    assert request.output == toy.greedy(prompt, LENGTH)
    assert drafter.request.output[:LENGTH] == request.output
    if "same" in name:
        assert request.statistics.calls == LENGTH / 5
    elif name == "hierarchical":
        assert request.statistics.calls == LENGTH / 5
        assert drafter.request.statistics.accepted > LENGTH / 4, "the inner draft was of no use"
    else:
        assert 0 < request.statistics.accepted < request.statistics.proposed


def the_last_drafted_atom_is_never_fed(patch: pytest.MonkeyPatch) -> None:
    """After a draft that was accepted whole, only the bonus is fed."""
    follow = ModelDrafter._follow

    def mutant(self: ModelDrafter, output: Sequence[int]) -> None:
        own = self.request.output
        if own and len(output) == len(own) + 1 and list(output[:-1]) == own:
            self.target.target.keep = lambda state, path, pending: setattr(
                state, "pending", pending
            )
            follow(self, output)
            del self.target.target.keep
        else:
            follow(self, output)

    patch.setattr(ModelDrafter, "_follow", mutant)


def rejected_atoms_stay_in_the_draft_models_cache(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        toy.ToyTarget,
        "rewind",
        lambda self, state, count, pending: setattr(state, "pending", pending),
    )


@pytest.mark.parametrize(
    ("fault", "model"),
    [
        (the_last_drafted_atom_is_never_fed, "the same"),
        (rejected_atoms_stay_in_the_draft_models_cache, "another"),
        (rejected_atoms_stay_in_the_draft_models_cache, "ahead"),
    ],
)
def test_faults_that_spare_the_output_are_found_in_the_books(
    fault: Any, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draft model whose cache is wrong costs acceptance and nothing else."""
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="cache is"):
        drafted(MODELS[model])


def test_what_was_drafted_ahead_is_used() -> None:
    """The draft model drafts every atom once when all is accepted, and not again."""
    (prompt,) = toy.prompts([6], seed=11)
    drafter = Ahead(ModelDrafter(toy.ToyTarget(), prompt), most=6)
    request, inner = drafted(lambda prompt: drafter)
    assert request.statistics.calls == LENGTH / 5
    drafts = inner.request.statistics.calls
    assert drafts < LENGTH + 10, "what was drafted ahead was drafted again"


def test_sampled_drafts_have_books_too() -> None:
    sampler = Sampler(1.5)
    request, drafter = drafted(
        lambda prompt: ModelDrafter(other(), prompt, sampler=sampler),
        verifier=Sampling(sampler),
    )
    assert len(request.output) == LENGTH
    assert 0 < request.statistics.accepted < request.statistics.proposed
    assert drafter.request.output[:LENGTH] == request.output


def test_a_draft_ends_behind_the_atom_that_is_enough() -> None:
    (prompt,) = toy.prompts([6], seed=11)
    truth = toy.greedy(prompt, 10)
    asked = []

    def enough(atoms: Sequence[int], laws: Any) -> bool:
        asked.append(list(atoms))
        return len(atoms) == 3

    drafter = ModelDrafter(toy.ToyTarget(), prompt)
    tree = drafter.propose([], Budget(chain=8, enough=enough))
    assert list(tree.atoms) == truth[:3]
    assert asked == [truth[:1], truth[:2], truth[:3]], "once for every atom"
    # A pool asks several drafters with one budget.
    controller = RejectionThreshold(Budget(chain=9), threshold=0.7)
    for budget in [controller.plan()] * 2:
        drafter = ModelDrafter(toy.ToyTarget(), prompt)
        assert len(drafter.propose([], budget)) == 6


def test_a_draft_model_follows_one_request() -> None:
    (prompt,) = toy.prompts([6], seed=11)
    drafter = ModelDrafter(toy.ToyTarget(toy.Transformer(5)), prompt)
    drafter.propose([1, 2, 3], Budget(chain=2))
    with pytest.raises(ValueError, match="make a new one"):
        drafter.propose([1], Budget(chain=2))


@pytest.mark.parametrize("width", [toy.VOCABULARY - 3, toy.VOCABULARY + 4])
def test_a_draft_model_may_have_a_head_of_another_width(width: int) -> None:
    class Padded(toy.Transformer):
        def __init__(self, seed: int) -> None:
            super().__init__(seed)
            generator = torch.Generator().manual_seed(1)
            extra = torch.randn(toy.SIZE, 40, generator=generator, dtype=torch.float64)
            self.head = torch.cat([self.head, 3 * extra], 1)[:, :width]

    sampler = Sampler(1.5)
    for parts in ({}, {"verifier": Sampling(sampler)}, {"verifier": KlJudge(0.5)}):
        options = {"sampler": sampler} if "Sampling" in str(parts) else {"beliefs": True}
        request, _ = drafted(
            lambda prompt, options=options: ModelDrafter(
                toy.ToyTarget(Padded(5)), prompt, vocabulary=toy.VOCABULARY, **options
            ),
            **parts,
        )
        assert len(request.output) == LENGTH
        assert max(request.output) < toy.VOCABULARY


def test_no_draft_is_longer_than_what_may_still_be_emitted() -> None:
    (prompt,) = toy.prompts([6], seed=11)
    drafter = ModelDrafter(toy.ToyTarget(), prompt)
    target = toy.ToyTarget()
    (state,) = target.open([prompt])
    request = Request(state, drafter, [MaxLength(8)], controller=Fixed(Budget(chain=5)))
    run(target, [request])
    assert request.statistics == Statistics(2, proposed=6, tested=6, accepted=6)


def test_samples_differ_unless_seeds_are_given() -> None:
    (prompt,) = toy.prompts([6], seed=11)

    def output(**rng: Any) -> list[int]:
        sampler = Sampler(2.0)
        drafter = ModelDrafter(toy.ToyTarget(toy.Transformer(5)), prompt, sampler=sampler, **rng)
        target = toy.ToyTarget()
        (state,) = target.open([prompt])
        parts = {"rng": np.random.default_rng(9)} if rng else {}
        request = Request(state, drafter, [MaxLength(20)], Sampling(sampler), **parts)
        run(target, [request])
        return request.output

    assert len({tuple(output()) for _ in range(4)}) == 4
    same = {tuple(output(rng=np.random.default_rng(3))) for _ in range(4)}
    assert len(same) == 1
    with pytest.raises(AssertionError, match="draws what its request draws"):
        output(rng=np.random.default_rng(9))


# --- Pools ---


def outcome(emitted: list[int]) -> Outcome[int]:
    tree = DraftTree[int].empty()
    return Outcome(tree, Verdict([], emitted[-1], 0), emitted, Scores(None))


class Says:
    def __init__(self) -> None:
        self.next: list[int] = []

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        return DraftTree.chain(self.next)

    def observe(self, outcome: Outcome[int]) -> None:
        """Told by the test."""


def test_a_pool_is_hardly_worse_than_its_best_drafter_in_hindsight() -> None:
    """On streams where the best drafter changes: the mean regret is small, with full memory
    against the best over all, and with a short one against the best of each part."""
    rng = np.random.default_rng(0)
    drafters = [Says() for _ in range(4)]
    for memory, parts, most in ((1.0, 1, 0.05), (0.9, 4, 0.12)):
        pool = Pool(drafters, memory=memory, rate=1.0, seed=1)
        right = np.zeros((800, 4))
        taken = np.zeros(800)
        for at in range(800):
            best = at * parts // 800
            for i, drafter in enumerate(drafters):
                right[at, i] = rng.random() < (0.9 if i == best else 0.3)
                drafter.next = [1] if right[at, i] else [2]
            tree = pool.propose([], Budget())
            taken[at] = tree.atoms[0] == 1
            pool.observe(outcome([1]))
        in_hindsight = sum(part.mean(0).max() for part in np.split(right, parts)) / parts
        assert in_hindsight - taken.mean() < most
        assert taken.mean() > right.mean() + 0.2, "a drafter chosen blindly is as good"


def test_a_pool_learns_about_drafters_that_it_did_not_choose() -> None:
    drafters = [Says(), Says(), Says()]
    pool = Pool(drafters)
    for drafter, said in zip(drafters, ([1, 2, 3], [1, 9, 3], []), strict=True):
        drafter.next = said
    pool.propose([], Budget())
    pool.observe(outcome([1, 2, 3, 4]))
    assert pool.losses == pytest.approx([1 / 4, 3 / 4, 1])
    assert pool.weights.sum() == pytest.approx(1)
    assert pool.weights.argmax() == 0


def test_a_pool_of_real_drafters_is_exact() -> None:
    (prompt,) = toy.prompts([5], seed=7)
    truth = toy.greedy(prompt, LENGTH)
    for seed in range(4):
        pool = Pool(
            [NoDraft(), AlignedText([truth]), PromptLookup(prompt), SuffixDecoding(prompt),
             ModelDrafter(other(), prompt)],
            seed=seed,
        )  # fmt: skip
        target = toy.ToyTarget()
        (state,) = target.open([prompt])
        request = Request(state, pool, [MaxLength(LENGTH)], controller=Fixed(Budget(chain=6)))
        run(target, [request])
        assert request.output == truth
        assert pool.weights.argmax() == 1
