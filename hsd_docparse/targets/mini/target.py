"""docparse-mini as a speculative target: the core's `Target`, and its side of the dialect."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from hsd_docparse.document import Box, Page, Region
from hsd_docparse.speculative import (
    Budget,
    DraftTree,
    Loop,
    MaxLength,
    Processor,
    Stop,
    StopTokens,
)
from hsd_docparse.speculative.cache import SlotCache
from hsd_docparse.speculative.tree import ROOT
from hsd_docparse.targets import PAGES
from hsd_docparse.targets.grouped import Group, GroupedTarget, Row
from hsd_docparse.targets.mini.certainty import weigh
from hsd_docparse.targets.mini.completeness import (
    LeaveFurniture,
    OpenBehindFormulas,
    ReadEveryLine,
)
from hsd_docparse.targets.mini.coverage import is_written_in
from hsd_docparse.targets.mini.dialect import EOS, PAGE, REGION, Dialect, Gaze
from hsd_docparse.targets.mini.modeling import DocparseMiniForConditionalGeneration, Memory
from hsd_docparse.targets.mini.pages import PageLines, read_page
from hsd_docparse.targets.mini.vision import Sight, collate, pointed_at
from hsd_docparse.targets.weighed import WeighedDraft

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class MiniInputs:
    """A sight and the prompt, which is one token: `PAGE` or `REGION`. ``behind_formulas`` are lines
    before which stands a formula that is not seen."""

    sight: Sight
    prompt: int
    behind_formulas: frozenset[int] = frozenset()


@dataclass(eq=False)
class MiniGroup(Group):
    """``counts`` are the lines of every row."""

    memory: Memory = field(kw_only=True)
    counts: list[int] = field(kw_only=True)


@dataclass(eq=False)
class MiniRow(Row[MiniGroup]):
    """``gaze`` is where the model looks after the pending token, ``gazes`` where after every
    node of the tree scored last."""

    gaze: Gaze = field(default_factory=Gaze)
    gazes: list[Gaze] = field(default_factory=list)


class MiniTarget(GroupedTarget[MiniGroup, MiniRow]):
    """Reads pages with docparse-mini. float32 on the CPU; float64 for proofs."""

    name = "docparse-mini"
    budget = Budget(chain=64, nodes=24, depth=12)

    def __init__(self, model: DocparseMiniForConditionalGeneration, dialect: Dialect) -> None:
        self.model = model.eval()
        self.dialect = dialect
        self._looked: deque[PageLines] = deque(maxlen=PAGES)

    @torch.no_grad()
    def open(self, inputs: Sequence[MiniInputs]) -> list[MiniRow]:
        lines = collate([each.sight for each in inputs], self.dialect, self.model.dtype)
        group = MiniGroup(
            SlotCache(len(inputs), window=self.model.config.window),
            memory=self.model.encode(lines),
            counts=[len(each.sight.readings) for each in inputs],
        )
        group.rows = [MiniRow(group, each.prompt) for each in inputs]
        return list(group.rows)

    def keep(self, state: MiniRow, path: Sequence[int], pending: int) -> None:
        super().keep(state, path, pending)
        gaze = state.gazes[path[-1]] if path else state.gaze
        state.gaze = self.dialect.advance(gaze, pending)

    def _forget_closed(self, group: MiniGroup, alive: list[int]) -> None:
        group.memory = group.memory.select(alive)
        group.counts = [group.counts[i] for i in alive]
        super()._forget_closed(group, alive)

    def _forward(
        self, group: MiniGroup, rows: list[int], trees: Sequence[DraftTree[int]], sees: Tensor
    ) -> list[Tensor]:
        queries = group.cache.queries
        near = queries[:, :, None] - group.cache.position[:, None, :] < self.model.config.window
        memory = group.memory if len(rows) == len(group.rows) else group.memory.select(rows)
        most = memory.rows.shape[1]
        shape = (len(trees), queries.shape[1])
        ids, line = np.zeros(shape, np.int64), np.full(shape, -1)
        character, inner = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        gazes = np.zeros(shape, np.int64)
        seen: list[list[frozenset[int]]] = []
        real = np.zeros(shape, bool)
        for r, (row, tree) in enumerate(zip([group.rows[i] for i in rows], trees, strict=True)):
            row.gazes = self._follow(row.gaze, tree)
            ids[r, : 1 + len(tree)] = [row.pending, *tree.atoms]
            real[r, : 1 + len(tree)] = True
            for q, gaze in enumerate([row.gaze, *row.gazes]):
                # A draft may point past the last line; such a node is never accepted.
                line[r, q] = min(gaze.line, most - 1)
                character[r, q], inner[r, q] = gaze.character, gaze.inner
            seen.append([row.gaze.seen])
            for node, (parent, gaze) in enumerate(zip(tree.parents, row.gazes, strict=True)):
                before = gazes[r, parent + 1] if parent != ROOT else 0
                pointed = gaze.seen is not seen[r][before]
                gazes[r, node + 1] = len(seen[r]) if pointed else before
                if pointed:
                    seen[r].append(gaze.seen)
        logits = self.model(
            input_ids=torch.from_numpy(ids),
            memory=memory,
            line=torch.from_numpy(line),
            character=torch.from_numpy(character),
            inner=torch.from_numpy(inner),
            gaze=torch.from_numpy(gazes),
            seen=torch.from_numpy(pointed_at(seen, most)).to(self.model.dtype),
            position_ids=queries,
            attention_mask=sees & near[:, None],
            real=torch.from_numpy(real),
            cache=group.cache,
        ).logits
        vocabulary = self.dialect.vocabulary
        own = logits.split([1 + len(tree) for tree in trees])
        counts = [group.counts[i] for i in rows]
        return [x[:, : vocabulary + count] for x, count in zip(own, counts, strict=True)]

    def _follow(self, gaze: Gaze, tree: DraftTree[int]) -> list[Gaze]:
        gazes: list[Gaze] = []
        for atom, parent in zip(tree.atoms, tree.parents, strict=True):
            gazes.append(self.dialect.advance(gaze if parent == ROOT else gazes[parent], atom))
        return gazes

    # The dialect (see DocumentTarget).

    def covers(self, region: Region) -> bool:
        """By kind and script: lines in others it has not learnt to copy."""
        config = self.model.config
        text = "".join(line.text for line in region.lines)
        return region.kind not in config.leaves and is_written_in(text, config.scripts)

    def page_inputs(self, image: Image.Image, page: Page) -> MiniInputs:
        lines = self._look(image, page)
        everything = range(len(lines.lines))
        sight = lines.sight(everything, Box(0, 0, page.width, page.height))
        return MiniInputs(sight, PAGE, lines.behind_formulas)

    def region_inputs(
        self, image: Image.Image, page: Page, regions: Sequence[int]
    ) -> list[MiniInputs]:
        lines = self._look(image, page)
        return [MiniInputs(lines.sight(lines.of_region[region]), REGION) for region in regions]

    def region_draft(self, page: Page, region: int) -> list[int]:
        lines = self._lines(page)
        place = {line: i for i, line in enumerate(lines.of_region[region])}
        draft = [replace(each, line=place[each.line]) for each in lines.drafts[region]]
        return [*self.dialect.write(draft), EOS]

    def page_drafts(self, page: Page, outputs: dict[int, list[int]]) -> list[list[int]]:
        """One text: the regions in the draft's order, so that it says what follows each, too.
        The pointers say where a region stands, so any other order is found as well."""
        lines, vocabulary = self._lines(page), self.dialect.vocabulary
        text: list[int] = []
        for region in lines.readable:
            if region in outputs:
                rows = lines.of_region[region]
                text += [
                    vocabulary + rows[token - vocabulary] if token >= vocabulary else token
                    for token in outputs[region]
                    if token != EOS
                ]
            else:
                text += self.dialect.write(lines.drafts[region])
        return [[*text, EOS]]

    def weighed_draft(self, page: Page) -> WeighedDraft:
        (tokens,) = self.page_drafts(page, {})
        return weigh(tokens, self._lines(page), self.dialect)

    def stops(self, inputs: MiniInputs) -> list[Stop[int]]:
        # What is written was seen: a text of twice as many tokens as glyphs has gone astray.
        glyphs = sum(len(reading.text) for reading in inputs.sight.readings)
        most = 64 + 2 * glyphs + 4 * len(inputs.sight.readings)
        return [StopTokens([EOS]), MaxLength(min(most, self.model.config.max_tokens)), Loop()]

    def processors(self, inputs: MiniInputs) -> list[Processor]:
        sight, vocabulary = inputs.sight, self.dialect.vocabulary
        return [
            ReadEveryLine(sight, inputs.prompt, vocabulary),
            LeaveFurniture(sight, vocabulary),
            OpenBehindFormulas(inputs.behind_formulas, vocabulary),
        ]

    def regions(self, page: Page, output: Sequence[int]) -> list[Region]:
        return read_page(self._lines(page), self.dialect.read(output), self.dialect)

    def readable(self, page: Page) -> list[int]:
        return self._lines(page).readable

    def _look(self, image: Image.Image, page: Page) -> PageLines:
        """The page's lines, read by the vision tower once for the page and its regions."""
        for lines in self._looked:
            if lines.page is page:
                return lines
        covered = [self.covers(region) for region in page.regions]
        self._looked.append(PageLines.look(image, page, self.dialect, covered))
        return self._looked[-1]

    def _lines(self, page: Page) -> PageLines:
        """Those of a page that was looked at."""
        return next(lines for lines in self._looked if lines.page is page)
