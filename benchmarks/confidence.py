"""Is a confidence of 0.9 right nine times in ten? On pages whose every word is known.

    python -m benchmarks.confidence                  # measures, and draws docs/confidence.svg
    python -m benchmarks.confidence --fit            # the numbers of hsd_docparse/confidence.py
    python -m benchmarks.confidence FILE...          # the same for files with NAME.ref.txt or .md

Pages for fitting and for measuring share neither prose nor, half of them, their kinds of faults
(`benchmarks.known_pages`). The expected calibration error is the mean distance between what
regions say and what is right, in ten bins of what they say, by words.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.known_pages import known_pages
from hsd_docparse import Page, parse
from hsd_docparse.confidence import WORD, Word, words_of
from hsd_docparse.document import FURNITURE

EDGES = [0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 0.999, 0.9998, 1.01]
"""Certainties between which one chance is fitted."""
BINS = 10
FIGURE = Path("docs/confidence.svg")
_UNKNOWN = {*FURNITURE, "formula", "figure"}
_SAME = str.maketrans("‘’“”–—‐‑−", "''\"\"-----")


@dataclass
class Judged:
    """A word that was read: number of its region, its certainty, the mean probability of the
    characters of its line, and whether the page has it."""

    region: int
    text: str
    certainty: float | None
    line: float | None
    right: bool

    @property
    def chance(self) -> float:
        return Word(self.text, self.certainty).chance

    @property
    def mean(self) -> float:
        """What was said before anything was fitted."""
        return 1.0 if self.line is None else self.line


def plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).translate(_SAME)


def judge(page: Page, words: Iterable[str]) -> list[Judged]:
    """Every word of ``page`` is right as often as it is among ``words``."""
    left = Counter(map(plain, words))
    judged = []
    for number, region in enumerate(page.regions):
        for line in region.lines:
            mean = fmean(line.probabilities) if line.probabilities else None
            for word in words_of(line):
                right = left[plain(word.text)] > 0
                left[plain(word.text)] -= right
                judged.append(Judged(number, word.text, word.certainty, mean, right))
    return judged


def readings(each: int, held: bool, kept: Path | None) -> dict[str, list[Judged]]:
    """What is read on known pages, by their names; taken from and stored in ``kept``."""
    if kept and kept.exists():
        stored = map(json.loads, kept.read_text("utf-8").splitlines())
        return {entry["name"]: [Judged(**word) for word in entry["words"]] for entry in stored}
    found: dict[str, list[Judged]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for known in known_pages(each, held=held):
            path = Path(folder, "page" + known.suffix)
            path.write_bytes(known.data)
            (page,) = parse(path, mode="draft", deadline=None).pages
            found[known.name] = judge(page, known.words)
    if kept:
        entries = [
            {"name": name, "words": [asdict(word) for word in words]}
            for name, words in found.items()
        ]
        kept.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")
    return found


def fitted(words: Sequence[Judged]) -> tuple[list[float], list[float]]:
    """Mean certainty and share of right words between `EDGES`, made to rise by pooling neighbours
    that fall (isotonic regression)."""
    certainty = np.array([word.certainty for word in words if word.certainty is not None])
    right = np.array([word.right for word in words if word.certainty is not None])
    pools: list[tuple[float, float, int]] = []
    at = np.digitize(certainty, EDGES)
    for number in np.unique(at):
        own = at == number
        pools.append((float(certainty[own].mean()), float(right[own].mean()), int(own.sum())))
        while len(pools) > 1 and pools[-2][1] >= pools[-1][1]:
            (x0, y0, n0), (x1, y1, n1) = pools[-2:]
            n = n0 + n1
            pools[-2:] = [((x0 * n0 + x1 * n1) / n, (y0 * n0 + y1 * n1) / n, n)]
    return [x for x, _, _ in pools], [y for _, y, _ in pools]


@dataclass
class Bin:
    """Regions that say about the same: what they say in the mean, and the share of their words
    that is right."""

    said: float
    right: float
    words: int


def reliability(pages: Iterable[Sequence[Judged]], calibrated: bool) -> list[Bin]:
    """By what regions say, in `BINS` bins; ``calibrated``, or as before."""
    binned: dict[int, list[tuple[float, float, int]]] = defaultdict(list)
    for page in pages:
        regions: dict[int, list[Judged]] = defaultdict(list)
        for word in page:
            regions[word.region].append(word)
        for own in regions.values():
            said = fmean(word.chance if calibrated else word.mean for word in own)
            right = fmean(word.right for word in own)
            binned[min(BINS - 1, int(said * BINS))].append((said, right, len(own)))
    bins = []
    for _, own_bin in sorted(binned.items()):
        said_of, right_of, counts = map(np.array, zip(*own_bin, strict=True))
        said, right = (float(np.average(each, weights=counts)) for each in (said_of, right_of))
        bins.append(Bin(said, right, int(counts.sum())))
    return bins


def calibration_error(bins: Sequence[Bin]) -> float:
    total = sum(each.words for each in bins)
    return sum(abs(each.said - each.right) * each.words for each in bins) / total


def references(files: Sequence[Path]) -> Iterator[tuple[str, list[Judged]]]:
    """What is read in files beside which a reference lies. Words are compared without what is no
    letter or digit, since references have their own punctuation and marks; formulas, running
    headers and what stands in figures are in few references, and left out."""
    for path in files:
        found = [path.with_suffix(f".ref.{kind}") for kind in ("txt", "md")]
        reference = next((each for each in found if each.exists()), None)
        if reference is None:
            continue
        text = html.unescape(re.sub(r"<[^>]+>", " ", reference.read_text("utf-8")))
        pages = parse(path, mode="draft", deadline=None).pages
        left = Counter(map(bare, WORD.findall(text)))
        judged: list[Judged] = []
        for page in pages:
            offset = 1 + max((word.region for word in judged), default=-1)
            for word in judge(page, []):
                kind = page.regions[word.region].kind
                word.region += offset
                if kind not in _UNKNOWN and (core := bare(word.text)):
                    word.right = left[core] > 0
                    left[core] -= word.right
                    judged.append(word)
        yield path.name, judged


def bare(word: str) -> str:
    return re.sub(r"[\W_]", "", plain(word))


def report(name: str, pages: Sequence[Sequence[Judged]]) -> None:
    words = [word for page in pages for word in page]
    if not words:
        return
    print(
        f"{name}: {len(words)} words, right {fmean(word.right for word in words):.3f}, "
        f"said {fmean(word.chance for word in words):.3f}; calibration error "
        f"{calibration_error(reliability(pages, calibrated=True)):.3f}, of mean probabilities "
        f"{calibration_error(reliability(pages, calibrated=False)):.3f}"
    )


def draw(pages: Sequence[Sequence[Judged]]) -> None:
    """The diagram of reliability, as `FIGURE`."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "confidence"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 5))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, calibrated, colour in (
        ("mean probability of the characters", False, "tab:orange"),
        ("confidence", True, "tab:blue"),
    ):
        bins = reliability(pages, calibrated)
        said, right = [each.said for each in bins], [each.right for each in bins]
        label = f"{name}: calibration error {calibration_error(bins):.3f}"
        axes.plot(said, right, color=colour, label=label)
        axes.scatter(said, right, [8 + each.words / 40 for each in bins], color=colour)
    axes.set(xlabel="what a region says", ylabel="share of its words that are right")
    axes.legend(loc="upper left", frameon=False)
    figure.tight_layout()
    figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--each", type=int, default=8, help="pages of each kind")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--readings", type=Path, help="JSON lines to keep what was read in")
    arguments = parser.parse_args()
    if arguments.files:
        found = dict(references(arguments.files))
        for name, page in found.items():
            report(name, [page])
        report("all files", list(found.values()))
        return
    known = readings(arguments.each, not arguments.fit, arguments.readings)
    if arguments.fit:
        certainty, right = fitted([word for page in known.values() for word in page])
        print("CERTAINTY =", [round(x, 4) for x in certainty])
        print("RIGHT =", [round(y, 3) for y in right])
        sane = [word for name, page in known.items() if "text layer" in name for word in page]
        right_of_sane = sum(word.right for word in sane)
        # Laplace's rule: that no error was seen does not say that there is none.
        print("TEXT_LAYER =", round((right_of_sane + 1) / (len(sane) + 2), 4))
        return
    kinds: dict[str, list[list[Judged]]] = defaultdict(list)
    for name, page in known.items():
        kinds[name.rstrip("0123456789 ")].append(page)
    for kind, pages in sorted(kinds.items()):
        report(kind, pages)
    report("all pages", list(known.values()))
    draw(list(known.values()))


if __name__ == "__main__":
    main()
