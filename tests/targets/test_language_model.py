"""Causal language models of transformers: token for token what they say without any draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiny_language_models as tiny
import torch
from tiny_language_models import NAMES, VOCABULARY
from toy import Hidden
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPTNeoConfig,
    GPTNeoForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    RwkvConfig,
    RwkvForCausalLM,
    xLSTMConfig,
    xLSTMForCausalLM,
)

from hsd_docparse.errors import TargetError
from hsd_docparse.speculative import (
    Ahead,
    Budget,
    Drafter,
    DraftTree,
    Fixed,
    Greedy,
    KlJudge,
    MaxLength,
    ModelDrafter,
    NoDraft,
    PromptLookup,
    RepetitionPenalty,
    Request,
    Sampler,
    Sampling,
    StopStrings,
    StopTokens,
    generate,
    run,
    stream,
)
from hsd_docparse.speculative.invariants import Recomputing
from hsd_docparse.targets.early_exit import with_layers
from hsd_docparse.targets.language_model import LanguageModel

LENGTH = 14
PROMPTS = 500
ROWS = 25

DRAFTS: dict[str, dict[str, Any]] = {
    "always right": {"right": 1, "nodes": 5},
    "always wrong": {"right": 0, "nodes": 5},
    "random": {"right": 1 / VOCABULARY, "nodes": 8, "tree": True},
    # Right below wrong and beside right, so that only an exact tree mask keeps them apart.
    "adversarial": {"right": 0.6, "nodes": 14, "tree": True},
}


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest) -> Any:
    return tiny.build(request.param)


def decoded(
    target: Any, prompts: Sequence[Sequence[int]], drafters: Sequence[Drafter[int]], **parts: Any
) -> list[Request[int]]:
    """In one ragged batch."""
    parts.setdefault("stops", [MaxLength(LENGTH)])
    requests = [
        Request(state, drafter, rng=np.random.default_rng(i), **parts)
        for i, (state, drafter) in enumerate(zip(target.open(prompts), drafters, strict=True))
    ]
    run(target, requests)
    return requests


def hidden(truth: Sequence[int], seed: int, name: str) -> Hidden:
    return Hidden(truth, seed, vocabulary=VOCABULARY, **DRAFTS[name])


def test_the_models_prove_something(model: Any) -> None:
    prompts = tiny.prompts(50)
    outputs = tiny.greedy(model, prompts, LENGTH)
    assert len({tuple(output) for output in outputs}) > 40
    assert np.mean([len(set(output)) for output in outputs]) > 5


def test_five_hundred_prompts_are_decoded_as_without_drafts(model: Any) -> None:
    prompts = tiny.prompts(PROMPTS)
    truths = tiny.greedy(model, prompts, LENGTH)
    target = LanguageModel(model)
    calls = {}
    for name in DRAFTS:
        calls[name] = accepted = 0
        for start in range(0, PROMPTS, ROWS):
            rows = range(start, start + ROWS)
            drafters = [hidden(truths[i], i, name) for i in rows]
            requests = decoded(target, [prompts[i] for i in rows], drafters)
            assert [request.output for request in requests] == truths[start : start + ROWS], name
            calls[name] += sum(request.statistics.calls for request in requests)
            accepted += sum(request.statistics.accepted for request in requests)
        assert bool(accepted) == (name != "always wrong")
    assert calls["always right"] == PROMPTS * -(-LENGTH // 6)
    assert calls["always wrong"] == PROMPTS * LENGTH
    assert calls["adversarial"] < 0.8 * PROMPTS * LENGTH


def test_eight_ragged_rows_are_what_each_is_alone_in_any_order(model: Any) -> None:
    prompts = [tiny.prompts(1, seed, 14)[0] for seed in range(8)]
    target = Recomputing(LanguageModel(model))
    alone = [decoded(target, [prompt], [NoDraft()])[0].output for prompt in prompts]
    assert alone == tiny.greedy(model, prompts, LENGTH)
    for order in (range(8), [3, 7, 0, 5, 1, 6, 2, 4]):
        drafters = [hidden(alone[i], i, "adversarial") for i in order]
        requests = decoded(target, [prompts[i] for i in order], drafters)
        assert [request.output for request in requests] == [alone[i] for i in order]


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("penalty", [1.0, 1.4])
def test_generate_says_the_same(attention: str, penalty: float) -> None:
    for name in NAMES:
        model = tiny.build(name, attention)
        target = LanguageModel(model)
        for prompt in tiny.prompts(4, seed=3):
            ids = torch.tensor([prompt])
            right = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=LENGTH,
                do_sample=False,
                repetition_penalty=penalty,
                eos_token_id=None,
                pad_token_id=0,
            )[0, len(prompt) :].tolist()
            request = generate(
                target,
                prompt,
                PromptLookup(prompt, shortest=1),
                [MaxLength(LENGTH)],
                processors=[RepetitionPenalty(penalty, prompt)],
            )
            assert request.output == right
            assert request.finished == "length"
            assert request.lossless


def test_the_sliding_window_matters_and_is_kept() -> None:
    """Long past the window; a window as long as the text says something else."""
    length = 60
    prompts = tiny.prompts(6, seed=2)
    near, far = tiny.build("gemma3"), tiny.build("gemma3", window=250)
    truths = tiny.greedy(near, prompts, length)
    assert truths != tiny.greedy(far, prompts, length)
    target = Recomputing(LanguageModel(near))
    drafters = [hidden(truth, i, "adversarial") for i, truth in enumerate(truths)]
    requests = decoded(target, prompts, drafters, stops=[MaxLength(length)])
    assert [request.output for request in requests] == truths


# --- Refusals ---


def test_recurrent_models_are_refused_by_name() -> None:
    config = MambaConfig(vocab_size=32, hidden_size=16, num_hidden_layers=1, state_size=4)
    with pytest.raises(TargetError, match="MambaForCausalLM has linear_attention layers"):
        LanguageModel(MambaForCausalLM(config))


def test_recurrent_models_without_layer_types_are_refused_too() -> None:
    rwkv = RwkvConfig(vocab_size=32, hidden_size=16, num_hidden_layers=2)
    with pytest.raises(TargetError, match="RwkvForCausalLM"):
        LanguageModel(RwkvForCausalLM(rwkv))
    blocks = {"num_hidden_layers": 1, "num_blocks": 1, "num_heads": 2}
    xlstm = xLSTMConfig(vocab_size=32, hidden_size=32, embedding_dim=32, **blocks)
    with pytest.raises(TargetError, match="xLSTMForCausalLM"):
        LanguageModel(xLSTMForCausalLM(xlstm))


def test_attention_that_takes_no_tree_is_refused_by_name() -> None:
    model = tiny.build("llama")
    model.config._attn_implementation = "flash_attention_2"
    with pytest.raises(TargetError, match="flash_attention_2"):
        LanguageModel(model)


def test_other_kinds_of_attention_are_refused_in_a_sentence() -> None:
    size: dict[str, Any] = {"vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2}
    local = GPTNeoConfig(
        **{**size, "num_layers": 2, "num_heads": 2, "attention_types": [[["global", "local"], 1]]}
    )
    with pytest.raises(TargetError, match="GPTNeoForCausalLM has local attention layers"):
        LanguageModel(GPTNeoForCausalLM(local))
    with pytest.raises(TargetError, match="BloomForCausalLM cannot verify a draft"):
        LanguageModel(
            BloomForCausalLM(BloomConfig(vocab_size=32, hidden_size=16, n_layer=1, n_head=2))
        )


@pytest.mark.parametrize("positions", [20, 30])
def test_drafts_end_where_positions_do(positions: int) -> None:
    """The target's, and those of a draft model that has fewer."""
    model, small = tiny.build("gpt2"), tiny.build("gpt2")
    small.transformer.wpe = torch.nn.Embedding(positions, 32, dtype=torch.float64)
    small.config.n_positions = positions
    (prompt,) = tiny.prompts(1, seed=1)
    length = positions - len(prompt)
    (truth,) = tiny.greedy(small, [prompt], length)
    for make in (ModelDrafter, lambda *given: Ahead(ModelDrafter(*given))):
        drafter = make(LanguageModel(small), prompt)
        assert generate(LanguageModel(small), prompt, drafter, [MaxLength(length)]).output == truth
    (longer,) = tiny.greedy(model, [prompt], 40)
    for make in (ModelDrafter, lambda *given: Ahead(ModelDrafter(*given))):
        drafter = make(LanguageModel(small), prompt)
        request = generate(
            LanguageModel(model), prompt, drafter, [MaxLength(40)],
            controller=Fixed(Budget(chain=3)),
        )  # fmt: skip
        assert request.output == longer


def test_a_model_that_ignores_the_mask_is_found_out() -> None:
    class Careless(type(tiny.build("llama"))):  # type: ignore[misc]
        def forward(self, *args: Any, attention_mask: Any = None, **rest: Any) -> Any:
            return super().forward(*args, **rest)

    model = tiny.build("llama")
    model.__class__ = Careless
    with pytest.raises(TargetError, match="reads a tree of drafts differently"):
        LanguageModel(model)


# --- Some layers as a draft model ---


@pytest.mark.parametrize("keep", [[0], [0, 1], [0, 2], [1, 2]], ids=str)
def test_some_layers_are_a_model_of_fewer_layers(model: Any, keep: list[int]) -> None:
    name = {"LlamaForCausalLM": "llama", "Qwen3ForCausalLM": "qwen3"}.get(type(model).__name__)
    short = with_layers(model, keep)
    assert {id(p) for p in short.parameters()} < {id(p) for p in model.parameters()}
    assert len(list(model.get_decoder().named_modules())) > len(
        list(short.get_decoder().named_modules())
    )
    assert model.config.get_text_config().num_hidden_layers == 3
    prompt = tiny.prompts(1, seed=5)
    if name:
        alone = tiny.build(name, layers=len(keep))
        state = {
            key.replace(f"layers.{old}.", f"layers.{new}."): value
            for key, value in model.state_dict().items()
            for new, old in [_kept(key, keep)]
            if old >= -1
        }
        alone.load_state_dict(state)
        assert tiny.greedy(short, prompt, LENGTH) == tiny.greedy(alone, prompt, LENGTH)
    assert tiny.greedy(short, prompt, LENGTH) != tiny.greedy(model, prompt, LENGTH)


def _kept(key: str, keep: list[int]) -> tuple[int, int]:
    """New and old number of the layer that a parameter is of: -1 for none, -2 for one left out."""
    if "layers." not in key:
        return -1, -1
    old = int(key.split("layers.")[1].split(".")[0])
    return (keep.index(old), old) if old in keep else (-2, -2)


@pytest.mark.parametrize("keep", [[0, 1], [0, 2]], ids=["early exit", "a layer skipped"])
def test_drafts_from_some_layers_change_nothing(model: Any, keep: list[int]) -> None:
    target = Recomputing(LanguageModel(model))
    short = Recomputing(LanguageModel(with_layers(model, keep)))
    for prompt in tiny.prompts(3, seed=6):
        (truth,) = tiny.greedy(model, [prompt], LENGTH)
        for drafter in (
            ModelDrafter(short, prompt),
            ModelDrafter(short, prompt, drafter=PromptLookup(prompt)),
            Ahead(ModelDrafter(short, prompt)),
        ):
            controller = Fixed(Budget(chain=3))
            request = generate(target, prompt, drafter, [MaxLength(LENGTH)], controller=controller)
            drafter.close()
            assert request.output == truth


def test_a_model_whose_layers_are_not_found_is_refused() -> None:
    model = tiny.build("llama")
    model.model.blocks = model.model.layers
    del model.model.layers
    with pytest.raises(ValueError, match="LlamaForCausalLM has no list of layers"):
        with_layers(model, [0])


# --- The public call ---


def test_streamed_pieces_are_the_output_and_closing_gives_the_memory_back(model: Any) -> None:
    (prompt,) = tiny.prompts(1, seed=7)
    (truth,) = tiny.greedy(model, [prompt], LENGTH)
    target = LanguageModel(model)

    def pieces() -> Any:
        drafter = hidden(truth, 0, "always right")
        return stream(target, prompt, drafter, [MaxLength(LENGTH)])

    whole = pieces()
    got = list(whole)
    assert whole.request.output == truth
    assert whole.request.lossless
    assert whole.request.statistics.calls == 3
    assert [len(piece) for piece in got] == [6, 6, 2]
    assert [token for piece in got for token in piece] == truth
    opened = []
    open_states = target.open
    target.open = lambda inputs: opened.append(open_states(inputs)) or opened[-1]  # type: ignore
    with pieces() as early:
        assert next(early) == truth[:6]
    for piece in pieces():
        assert piece == truth[:6]
        break
    del early
    for (state,) in opened:
        assert not state.open
        assert not state.group.cache.layers
    assert len(opened) == 2


def test_a_request_that_fails_gives_its_memory_back(model: Any) -> None:
    target = LanguageModel(model)
    opened = []
    open_states = target.open
    target.open = lambda inputs: opened.append(open_states(inputs)) or opened[-1]  # type: ignore
    with pytest.raises(IndexError):
        generate(target, [1, 2], _Unknown(), [MaxLength(9)])
    ((state,),) = opened
    assert not state.open
    with pytest.raises(TypeError, match="verifer"):
        generate(target, [1, 2], NoDraft(), [MaxLength(9)], verifer=Greedy())
    assert len(opened) == 1, "what is misspelled is found before anything is computed"
    with pytest.raises(ValueError, match="never ends"):
        generate(target, [1, 2], NoDraft(), [])


class _Unknown(NoDraft):
    """Drafts a token that no model knows."""

    def propose(self, output: Sequence[int], budget: Budget) -> DraftTree[int]:
        return DraftTree.chain([10**6])


def test_prompts_that_are_no_lists_are_refused_in_a_sentence(model: Any) -> None:
    for prompt in (torch.tensor([1, 2]), torch.tensor([[1, 2]])):
        with pytest.raises(TargetError, match=r"call tolist\(\)"):
            generate(LanguageModel(model), prompt, NoDraft(), [MaxLength(3)])


def letters(ids: Sequence[int]) -> str:
    return "".join(chr(ord("0") + token) for token in ids)


@pytest.mark.parametrize("draft", DRAFTS)
def test_stop_strings_are_found_inside_accepted_blocks(model: Any, draft: str) -> None:
    target = LanguageModel(model)
    for seed, prompt in enumerate(tiny.prompts(6, seed=8)):
        (truth,) = tiny.greedy(model, [prompt], LENGTH)
        string = letters(truth[7:9])
        stop = StopStrings([string, "not in it"], letters)
        drafter = hidden(truth, seed, draft)
        request = generate(target, prompt, drafter, [stop, MaxLength(LENGTH)])
        end = letters(truth).index(string)
        assert request.output == truth[: end + 2]
        assert request.finished == "stop"
        assert stop.trimmed(request.output) == letters(truth[:end])


def test_sampled_and_lenient_requests_run_on_real_models(model: Any) -> None:
    """Seeds repeat, the result says what it is, and stop tokens end it."""
    (prompt,) = tiny.prompts(1, seed=9)
    target, short = LanguageModel(model), LanguageModel(with_layers(model, [0, 1]))
    sampler = Sampler(0.8, top_k=20)
    outputs = []
    for seed in (1, 1, 2):
        drafter = ModelDrafter(short, prompt, sampler=sampler, rng=np.random.default_rng(seed))
        rng = np.random.default_rng(seed + 10)
        request = generate(
            target, prompt, drafter, [MaxLength(LENGTH)], verifier=Sampling(sampler), rng=rng
        )
        assert request.lossless
        outputs.append(request.output)
    assert outputs[0] == outputs[1] != outputs[2]
    (truth,) = tiny.greedy(model, [prompt], LENGTH)
    judged = generate(
        target,
        prompt,
        ModelDrafter(short, prompt, beliefs=True),
        [StopTokens([truth[0]]), MaxLength(LENGTH)],
        verifier=KlJudge(0.1),
    )
    assert not judged.lossless
    assert judged.finished in ("stop", "length")
