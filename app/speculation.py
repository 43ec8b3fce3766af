"""What speculation did on a page, for two plots and a few words."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from hsd_docparse.document import Page, Speculation
from hsd_docparse.wording import counted

PLAIN = "plain decoding, at least"
SPECULATIVE = "as it was read"
PARTS = {"see": "picture and prefill", "regions": "regions", "page": "page"}


@dataclass(frozen=True)
class Story:
    """``calls``: tokens that each target call gave (columns ``call``, ``tokens``). ``seconds``: of
    both ways by part (columns ``way``, ``part``, ``seconds``). ``words``: Markdown."""

    words: str
    calls: pd.DataFrame
    seconds: pd.DataFrame


def story(page: Page) -> Story:
    calls = pd.DataFrame({"call": pd.Series(dtype=int), "tokens": pd.Series(dtype=int)})
    seconds = pd.DataFrame({"way": [], "part": [], "seconds": pd.Series(dtype=float)})
    told = page.speculation
    if told is None:
        return Story("No target read this page: what you see is the draft.", calls, seconds)
    given = told.committed
    calls = pd.DataFrame({"call": range(1, len(given) + 1), "tokens": given})
    spent = {name: told.seconds.get(key, 0.0) for key, name in PARTS.items()}
    plain = {PARTS["see"]: spent[PARTS["see"]], PARTS["page"]: plain_seconds(told)}
    seconds = pd.DataFrame(
        [
            (way, *part)
            for way, parts in ((SPECULATIVE, spent), (PLAIN, plain))
            for part in parts.items()
        ],
        columns=["way", "part", "seconds"],
    )
    return Story(_words(told, sum(spent.values()), sum(plain.values())), calls, seconds)


def plain_seconds(told: Speculation) -> float:
    """Least time of plain decoding: a call for every token, each as fast as the page's fastest."""
    return told.tokens * told.seconds.get("fastest_call", 0.0)


def _words(told: Speculation, spent: float, plain: float) -> str:
    calls = told.page_calls + told.region_calls
    share = told.accepted / told.proposed if told.proposed else 0.0
    lines = [
        f"**{told.target}** wrote {counted(told.tokens, 'token')} in {counted(calls, 'call')}, "
        f"{max(told.tokens - calls, 0)} fewer than plain decoding makes.",
        f"It accepted {told.accepted} of {told.proposed} drafted tokens ({share:.0%}).",
        "The output is token for token what it writes alone."
        if told.lossless
        else f"In {told.changed} places the draft had its way.",
        f"Reading took {spent:.2f} s, plain decoding takes {plain:.2f} s or more "
        "(as many calls as tokens, each as fast as the fastest of this page).",
        *told.notes,
    ]
    return "\n\n".join(line for line in lines if line)
