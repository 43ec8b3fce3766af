"""Exactness, judged in float64 on random models of the real classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from tiny_models import EOS, IMAGE, NAMES, VOCABULARY, WORDS

from hsd_docparse.errors import TargetError
from hsd_docparse.speculative import (
    AlignedText,
    Budget,
    Drafter,
    DraftTree,
    MaxLength,
    NoDraft,
    Outcome,
    RepetitionPenalty,
    Request,
    StopTokens,
    run,
    step,
)
from hsd_docparse.targets.vision_language import VisionLanguageModel, VisionPrompt, VisionRow

LENGTH = 32
PENALTY = 1.08


@pytest.fixture(scope="module", autouse=True)
def double_precision() -> Iterator[None]:
    """The models compute norms, softmax and rotations in float32 whatever their weights are;
    for these tests that means float64 too, or rounding would hide errors below 1e-7."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "float32", torch.float64)
        patch.setattr(torch, "float", torch.float64)
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        torch.set_default_dtype(torch.float64)
        yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def target(name: str) -> VisionLanguageModel:
    return VisionLanguageModel(tiny_models.build(name))


@pytest.fixture(scope="module")
def prompts(name: str) -> list[VisionPrompt]:
    sizes = [(8, 12, 7), (4, 8, 12), (12, 6, 5)]
    return [
        tiny_models.prompt(name, height, width, seed, words)
        for seed, (height, width, words) in enumerate(sizes)
    ]


class RandomTrees:
    """Trees of random tokens in which, at places, the true continuation is hidden."""

    def __init__(self, truth: Sequence[int], seed: int) -> None:
        self.truth = truth
        self.rng = np.random.default_rng(seed)

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        nodes = int(self.rng.integers(0, 12))
        atoms: list[int] = []
        parents: list[int] = []
        taken: set[tuple[int, int]] = set()
        depth = {-1: 0}
        for _ in range(nodes):
            parent = int(self.rng.integers(-1, len(atoms)))
            at = len(output) + depth[parent]
            known = at < len(self.truth) and self.rng.random() < 0.7
            atom = self.truth[at] if known else int(self.rng.integers(WORDS))
            if (parent, atom) not in taken:
                taken.add((parent, atom))
                depth[len(atoms)] = depth[parent] + 1
                atoms.append(atom)
                parents.append(parent)
        return DraftTree(atoms, parents)

    def observe(self, outcome: Outcome[int]) -> None:
        pass


def decoded(
    target: VisionLanguageModel,
    prompts: Sequence[VisionPrompt],
    drafters: Sequence[Drafter[int]],
    penalty: float = 1.0,
) -> list[Request[int]]:
    requests = [
        Request(
            state,
            drafter,
            [StopTokens([EOS]), MaxLength(LENGTH)],
            processors=[RepetitionPenalty(penalty, prompt.ids)],
        )
        for state, drafter, prompt in zip(target.open(prompts), drafters, prompts, strict=True)
    ]
    run(target, requests)
    return requests


def reference(target: VisionLanguageModel, prompt: VisionPrompt, penalty: float = 1.0) -> list[int]:
    """What the model's own generate() says."""
    ids = torch.tensor([prompt.ids])
    output = target.model.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        pixel_values=prompt.pixels,
        image_grid_thw=prompt.grid,
        mm_token_type_ids=(ids == IMAGE).int(),
        do_sample=False,
        repetition_penalty=penalty,
        max_new_tokens=LENGTH,
        eos_token_id=EOS,
    )
    return list(output[0, len(prompt.ids) :].tolist())


@pytest.mark.parametrize("penalty", [1.0, PENALTY])
def test_every_draft_gives_what_generate_gives(
    target: VisionLanguageModel, prompts: list[VisionPrompt], penalty: float
) -> None:
    rng = np.random.default_rng(0)
    for prompt in prompts[:2]:
        truth = reference(target, prompt, penalty)
        assert len(set(truth)) > 8, "a model that repeats itself proves nothing"
        noise = rng.integers(0, WORDS, 200).tolist()
        damaged = [t if rng.random() < 0.8 else (t + 1) % WORDS for t in truth]
        drafters: list[Drafter[int]] = [
            NoDraft(),
            AlignedText([truth]),
            AlignedText([damaged]),
            AlignedText([noise]),
            AlignedText([[]]),
            AlignedText([truth[15:], damaged, truth[:15]]),
            *(RandomTrees(truth, seed) for seed in range(3)),
        ]
        done = [decoded(target, [prompt], [drafter], penalty)[0] for drafter in drafters]
        assert [request.output for request in done] == [truth] * len(done)
        assert done[0].statistics.calls == len(truth)
        assert done[1].statistics.calls < len(truth) / 4


@pytest.mark.parametrize("penalty", [1.0, PENALTY])
def test_rows_of_a_batch_do_not_influence_each_other(
    target: VisionLanguageModel, prompts: list[VisionPrompt], penalty: float
) -> None:
    truths = [reference(target, prompt, penalty) for prompt in prompts]
    assert truths[0] != truths[1] != truths[2] != truths[0]
    for order in ([0, 1, 2], [2, 0, 1], [1, 0], [1, 1, 2, 0, 0]):
        drafters = [RandomTrees(truths[i], seed) for seed, i in enumerate(order)]
        drafters[0] = AlignedText([truths[order[0]]])  # finishes early and leaves the cache
        done = decoded(target, [prompts[i] for i in order], drafters, penalty)
        assert [request.output for request in done] == [truths[i] for i in order]


def test_scores_are_those_of_a_fresh_forward_and_so_is_the_cache(
    target: VisionLanguageModel, prompts: list[VisionPrompt]
) -> None:
    truths = [reference(target, prompt) for prompt in prompts]
    requests = [
        Request(state, RandomTrees(truth, 5 + i), [MaxLength(2 * LENGTH)])
        for i, (state, truth) in enumerate(zip(target.open(prompts), truths, strict=True))
    ]
    while min(len(request.output) for request in requests) < LENGTH - 8:
        step(target, requests)
    assert sum(r.statistics.accepted for r in requests) > 10, "nothing was kept from a tree"
    assert sum(r.statistics.proposed - r.statistics.accepted for r in requests) > 10
    last = target.score([r.state for r in requests], [DraftTree.empty()] * 3)
    cache = requests[0].state.group.cache
    assert cache is not None
    for row, (request, prompt) in enumerate(zip(requests, prompts, strict=True)):
        fresh, logits = forward(target.model, prompt, request.output)
        committed = len(prompt.ids) + len(request.output) - 1
        assert cache.lengths[row] + 1 == committed + 1
        for layer, right in zip(cache.layers, fresh.layers, strict=True):
            for kept, exact in ((layer.keys, right.keys), (layer.values, right.values)):
                error = (kept[row][:, :committed] - exact[0][:, :committed]).abs().max()
                assert error < 1e-10
        assert (last[row].logits[0] - logits[0, -1]).abs().max() < 1e-10


def test_every_node_is_scored_as_if_its_path_were_the_text(
    target: VisionLanguageModel, prompts: list[VisionPrompt]
) -> None:
    trees = [
        DraftTree([3, 4, 5, 6, 7], [-1, -1, 0, 1, 2]),
        DraftTree.empty(),
        DraftTree.chain([8, 9, 10]),
    ]
    for prompt, tree, scores in zip(
        prompts, trees, target.score(target.open(prompts), trees), strict=True
    ):
        assert scores.logits.shape == (1 + len(tree), VOCABULARY)
        for node in range(-1, len(tree)):
            path = [tree.atoms[i] for i in tree.path(node)]
            _, logits = forward(target.model, prompt, path)
            assert (scores.logits[node + 1] - logits[0, -1]).abs().max() < 1e-10


def test_eager_attention_scores_the_same(name: str, prompts: list[VisionPrompt]) -> None:
    trees = [DraftTree([3, 4, 5], [-1, -1, 0]), DraftTree.empty(), DraftTree.chain([8, 9])]
    both = []
    for attention in ("sdpa", "eager"):
        target = VisionLanguageModel(tiny_models.build(name, attention))
        states = target.open(prompts)
        target.score(states, trees)
        target.keep(states[0], [0, 2], 17)
        target.keep(states[1], [], 18)
        target.keep(states[2], [0], 19)
        both.append(target.score(states, trees))
    for one, other in zip(*both, strict=True):
        assert (one.logits - other.logits).abs().max() < 1e-10


def test_groups_and_idle_rows_share_a_call_without_harm(
    target: VisionLanguageModel, prompts: list[VisionPrompt]
) -> None:
    truths = [reference(target, prompt) for prompt in prompts]
    states = [*target.open(prompts[:2]), *target.open(prompts[2:])]
    requests = [
        Request(state, RandomTrees(truth, i), [MaxLength(len(truth))])
        for i, (state, truth) in enumerate(zip(states, truths, strict=True))
    ]
    step(target, [requests[1]])
    step(target, [requests[2], requests[0]])
    step(target, [requests[0]])
    run(target, requests)
    assert [request.output for request in requests] == truths
    assert not any(request.state.group.cache.layers for request in requests)


def test_the_picture_and_its_shape_matter(
    name: str, target: VisionLanguageModel, prompts: list[VisionPrompt]
) -> None:
    """The guard of all tests above: they would pass on a model that is blind."""
    first = prompts[0]
    dark = VisionPrompt(first.ids, torch.zeros_like(first.pixels), first.grid)
    assert reference(target, dark) != reference(target, first)
    coordinates, shift = target._rotary(first)
    assert coordinates.shape[0] == (4 if name == "hunyuan_vl" else 3)
    if name == "hunyuan_vl":
        assert shift == 0
    else:
        # 8 x 12 patches are 4 x 6 tokens, which take max(4, 6) coordinates.
        assert shift == 6 - 24


def the_shift_of_images_is_lost(patch: pytest.MonkeyPatch) -> None:
    rotary = VisionLanguageModel._rotary
    patch.setattr(VisionLanguageModel, "_rotary", lambda self, prompt: (rotary(self, prompt)[0], 0))


def all_rows_take_the_shift_of_the_last(patch: pytest.MonkeyPatch) -> None:
    """What the model remembers of its last prefill."""
    start = VisionLanguageModel.open

    def mutant(self: VisionLanguageModel, inputs: Sequence[VisionPrompt]) -> list[VisionRow]:
        rows = start(self, inputs)
        for row in rows:
            row.shift = rows[-1].shift
        return rows

    patch.setattr(VisionLanguageModel, "open", mutant)


def the_coordinate_is_the_slot(patch: pytest.MonkeyPatch) -> None:
    start = VisionLanguageModel.open

    def mutant(self: VisionLanguageModel, inputs: Sequence[VisionPrompt]) -> list[VisionRow]:
        rows = start(self, inputs)
        for i, row in enumerate(rows):
            row.group.cache.lengths[i] += row.shift
            row.shift = 0
        return rows

    patch.setattr(VisionLanguageModel, "open", mutant)


@pytest.mark.parametrize(
    "fault",
    [the_shift_of_images_is_lost, all_rows_take_the_shift_of_the_last, the_coordinate_is_the_slot],
)
def test_faults_of_rotary_positions_are_found(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    target = VisionLanguageModel(tiny_models.build("qwen2_vl"))
    prompts = [
        tiny_models.prompt("qwen2_vl", 8, 12, 0, 7),
        tiny_models.prompt("qwen2_vl", 4, 8, 1, 9),
    ]
    truths = [reference(target, prompt) for prompt in prompts]
    for damaged in (False, True):
        if damaged:
            fault(monkeypatch)
        drafters = [RandomTrees(truth, i) for i, truth in enumerate(truths)]
        done = decoded(target, prompts, drafters)
        assert ([request.output for request in done] == truths) != damaged


def test_caches_that_cannot_rewind_are_refused() -> None:
    model = tiny_models.build("qwen2_vl")
    model.config.text_config.layer_types = ["full_attention", "sliding_attention"]
    with pytest.raises(TargetError, match="sliding_attention layers"):
        VisionLanguageModel(model)
    model = tiny_models.build("hunyuan_vl")
    del model.config.text_config.rope_parameters["alpha"]
    with pytest.raises(TargetError, match="dynamic rotary positions"):
        VisionLanguageModel(model)
    model = tiny_models.build("qwen3_vl")
    model.config.text_config._attn_implementation = "flash_attention_2"
    with pytest.raises(TargetError, match="takes no tree mask"):
        VisionLanguageModel(model)


def forward(model: Any, prompt: VisionPrompt, output: Sequence[int]) -> tuple[Any, torch.Tensor]:
    """Cache and logits of one pass over everything, with the model's own positions."""
    ids = torch.tensor([[*prompt.ids, *output]])
    with torch.no_grad():
        result = model(
            input_ids=ids,
            pixel_values=prompt.pixels,
            image_grid_thw=prompt.grid,
            mm_token_type_ids=(ids == IMAGE).int(),
            use_cache=True,
        )
    return result.cache, result.logits
