"""Plain greedy decoding against speculative decoding of the same pages, in one run.

    python -m benchmarks.hsd FILES... [--target mini] [--json out.json] [--plot out.svg]

Four ways of decoding a page with the same target: plain greedy, page only, regions only and
full HSD. Nothing is left out: end to end holds the drafter, rendering, the vision encoder
and prefill, and every page of every file is in the medians. ``floor`` is what no speculation
can beat: everything but decoding, plus one pass over all tokens. Regions alone is not
lossless; the other two are, which ``same`` checks against plain greedy token for token.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hsd_docparse.document import Page
from hsd_docparse.hsd import Reading, Stages, has_text_for, read
from hsd_docparse.speculative import DraftTree, Scores
from hsd_docparse.targets import DocumentTarget, open_target

if TYPE_CHECKING:
    from PIL import Image

WAYS: dict[str, Stages] = {
    "greedy": "none", "page": "page", "regions": "regions", "hsd": "both",
}  # fmt: skip
NEAR = 1e-4
"""Logits closer than this are a tie that another order of summing may break."""


@dataclass
class Row:
    """One page. Times in seconds; ``decode`` holds both stages, ``total`` everything."""

    file: str
    page: int
    tokens: int
    draft: float
    floor: float
    decode: dict[str, float]
    total: dict[str, float]
    calls: dict[str, int]
    accepted: dict[str, float]
    same: dict[str, bool]
    tie: dict[str, float]
    """The gap between the two best logits where a way first departs from plain greedy."""


def drafted_pages(
    target: DocumentTarget, files: Sequence[str], dpi: float
) -> Iterator[tuple[str, Image.Image, Page, float]]:
    """Every page of every file that holds text for ``target``: name, picture, draft and the seconds
    of both. The others are named."""
    from hsd_docparse.draft import draft_page, upright_picture
    from hsd_docparse.sources import DamagedPage, open_source

    for file in files:
        with open_source(file) as source:
            for opened in source.pages():
                if isinstance(opened, DamagedPage):
                    print(f"{file} page {opened.number}: {opened.error}")
                    continue
                clock = time.perf_counter()
                page = draft_page(opened, dpi=dpi)
                image = upright_picture(opened, page, dpi=dpi)
                spent = time.perf_counter() - clock
                if not has_text_for(target, page):
                    print(f"{file} page {page.number}: no text that {target.name} reads")
                    continue
                yield Path(file).name, image, page, spent


def measure(target: DocumentTarget, files: Sequence[str], dpi: float) -> Iterator[Row]:
    for file, image, page, draft in drafted_pages(target, files, dpi):
        yield measure_page(target, file, page, image, draft)


def measure_page(
    target: DocumentTarget, name: str, page: Page, image: Image.Image, draft: float
) -> Row:
    row = Row(name, page.number, 0, draft, 0.0, {}, {}, {}, {}, {}, {})
    plain: Reading | None = None
    for way, stages in WAYS.items():
        # A target may remember the page that it saw last; every way sees for itself.
        fresh = Page(page.number, page.width, page.height, page.regions)
        clock = time.perf_counter()
        reading = read(target, image, fresh, stages)
        spent = time.perf_counter() - clock
        row.total[way] = draft + spent
        row.decode[way] = reading.seconds.get("regions", 0) + reading.seconds.get("page", 0)
        row.calls[way] = reading.region_calls + reading.page_calls
        row.accepted[way] = reading.accepted / max(1, reading.page_calls)
        if plain is None:
            plain = reading
            row.tokens = len(reading.output)
            row.floor = draft + reading.seconds["see"] + one_pass(target, image, fresh, reading)
        elif way != "regions":
            row.same[way] = reading.output == plain.output
            if not row.same[way]:
                row.tie[way] = gap(target, image, fresh, plain.output, reading.output)
    return row


def score_all(target: DocumentTarget, image: Image.Image, page: Page, output: list[int]) -> Scores:
    """One forward pass over a whole output."""
    (state,) = target.open([target.page_inputs(image, page)])
    (scores,) = target.score([state], [DraftTree.chain(output)])
    target.close([state])
    return scores


def one_pass(target: DocumentTarget, image: Image.Image, page: Page, reading: Reading) -> float:
    (state,) = target.open([target.page_inputs(image, page)])
    clock = time.perf_counter()
    target.score([state], [DraftTree.chain(reading.output)])
    target.close([state])
    return time.perf_counter() - clock


def first_difference(one: list[int], other: list[int]) -> int:
    """The first place where the outputs differ, or the length of the shorter."""
    same = (a == b for a, b in zip(one, other, strict=False))
    return next((i for i, equal in enumerate(same) if not equal), min(len(one), len(other)))


def gap(
    target: DocumentTarget, image: Image.Image, page: Page, one: list[int], other: list[int]
) -> float:
    """Between the two best logits at the first token where the outputs differ, as greedy decoding
    sees them: after the target's own processors."""
    at = min(first_difference(one, other), len(one) - 1)
    scores = score_all(target, image, page, one[: at + 1])
    for process in target.processors(target.page_inputs(image, page)):
        scores.logits = process(scores.logits, [], DraftTree.chain(one[: at + 1]))
    logits = scores.logits[at]
    best = sorted(logits.tolist())[-2:]
    return best[1] - best[0]


def summary(rows: Sequence[Row], target: str) -> str:
    def spread(values: Sequence[float], unit: str = "") -> str:
        low, *_, high = sorted(values) * 2 if len(values) == 1 else sorted(values)
        return f"{statistics.median(values):.2f}{unit} ({low:.2f} to {high:.2f})"

    lines = [
        f"{len(rows)} pages, {sum(r.tokens for r in rows)} tokens, target {target}; "
        "medians over all pages (smallest to largest)",
        "",
        "| | lossless | decode, times greedy | end to end, times greedy | end to end / floor |"
        " target calls | tokens a call | mean accepted | same output |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for way in WAYS:
        same = [r.same[way] for r in rows if way in r.same]
        lines.append(
            f"| {way} | {'no' if way == 'regions' else 'yes'}"
            f" | {spread([r.decode['greedy'] / r.decode[way] for r in rows], 'x')}"
            f" | {spread([r.total['greedy'] / r.total[way] for r in rows], 'x')}"
            f" | {spread([r.total[way] / r.floor for r in rows])}"
            f" | {sum(r.calls[way] for r in rows)}"
            f" | {sum(r.tokens for r in rows) / max(1, sum(r.calls[way] for r in rows)):.1f}"
            f" | {statistics.median([r.accepted[way] for r in rows]):.1f}"
            f" | {f'{sum(same)} of {len(same)}' if same else ''} |"
        )
    seconds = {
        "drafter": [r.draft for r in rows],
        "floor": [r.floor for r in rows],
        **{way: [r.total[way] for r in rows] for way in WAYS},
    }
    lines += ["", "Seconds a page: " + ", ".join(f"{k} {spread(v)}" for k, v in seconds.items())]
    ties = {f"{r.file} page {r.page}, {way}": gap for r in rows for way, gap in r.tie.items()}
    for where, gap in ties.items():
        kind = "a near tie" if gap < NEAR else "NOT a tie"
        lines.append(f"Differs: {where}, the two best logits are {gap:.1e} apart ({kind}).")
    return "\n".join(lines)


def plot(rows: Sequence[Row], path: str) -> None:
    """Seconds a page end to end, all pages, sorted by plain greedy decoding."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    rows = sorted(rows, key=lambda r: r.total["greedy"])
    figure, axes = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    styles = {"greedy": "#b0413e", "page": "#e0a458", "hsd": "#2a6f97"}
    names = {"greedy": "plain greedy", "page": "page only", "hsd": "full HSD"}
    at = range(len(rows))
    for way, colour in styles.items():
        axes.plot(at, [r.total[way] for r in rows], "o-", ms=3, lw=1, c=colour, label=names[way])
    axes.plot(at, [r.floor for r in rows], "--", lw=1, c="#666666", label="floor")
    axes.set_xlabel("page, by time of plain greedy decoding")
    axes.set_ylabel("seconds, end to end")
    axes.set_ylim(0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def command(description: str | None) -> argparse.ArgumentParser:
    """The options of every benchmark that reads files with a target."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--target", default="mini")
    parser.add_argument("--dpi", type=float, default=150)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json")
    return parser


def opened(arguments: argparse.Namespace) -> DocumentTarget:
    import torch

    torch.set_num_threads(arguments.threads)
    return open_target(arguments.target)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    target = opened(arguments)
    # The first page of a process pays for compiling and loading: read once, not counted.
    next(measure(target, arguments.files[:1], arguments.dpi), None)
    rows: list[Row] = []
    for row in measure(target, arguments.files, arguments.dpi):
        rows.append(row)
        print(
            f"{row.file} p{row.page}: {row.tokens} tokens, "
            + ", ".join(f"{way} {row.total[way]:.2f} s {row.calls[way]} calls" for way in WAYS)
            + f", floor {row.floor:.2f} s, same {all(row.same.values())}",
            flush=True,
        )
    print("\n" + summary(rows, target.name))
    if arguments.json:
        report: list[dict[str, Any]] = [asdict(row) for row in rows]
        Path(arguments.json).write_text(json.dumps(report, indent=1), "utf-8")
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
