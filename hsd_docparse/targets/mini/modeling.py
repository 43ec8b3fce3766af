"""docparse-mini: a vision-language model of a few million parameters.

Its visual tokens are glyphs (see `hsd_docparse.draft.recognizer`), grouped into lines. Three
attentions do the work:

- glyphs of a line see each other, and lines of a page see each other (where they stand,
  how large they are): what a line is;
- a text token sees the glyphs of the line that it reads, with a rotary coordinate that
  counts *characters* on both sides: reading is attention at a constant offset;
- a text token sees the text before it.

The output vocabulary is the tokenizer's plus one pointer for each line of the page. What the
dialect's grammar forbids has no chance: marks away from the head of a line, a line pointed at
twice, more text than its line can hold. So every output ends, and none repeats a line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, AutoModelForImageTextToText
from transformers.configuration_utils import PreTrainedConfig
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.modeling_utils import PreTrainedModel

from hsd_docparse.targets.mini.dialect import JOIN, PAGE, REGION, SPECIAL, Hint, P

BYTES = 4
"""A glyph's best symbol is given as its UTF-8 bytes, so that no script needs a table of its own."""
NO_BYTE = 256
GEOMETRY = 8
PAIR = 19
WAVES = (1.0, 2.0, 4.0, 8.0, 16.0)
EDGES = (8, 20, 40, 72)
SMALL = 400_000
"""Below this many scores, sorting sequences by length costs more than it saves."""


class DocparseMiniConfig(PreTrainedConfig):
    """``scripts`` (first words of Unicode names) and ``languages`` (ISO 639-1) are what the weights
    were trained on; ``leaves`` are kinds of regions that they do not read."""

    model_type = "docparse_mini"

    def __init__(
        self,
        vocab_size: int = 4096,
        hidden_size: int = 256,
        heads: int = 4,
        glyph_size: int = 240,
        glyph_layers: int = 1,
        line_layers: int = 2,
        decoder_layers: int = 4,
        window: int = 256,
        max_tokens: int = 4096,
        scripts: Sequence[str] = (),
        languages: Sequence[str] = (),
        leaves: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        self.scripts = list(scripts)
        self.languages = list(languages)
        self.leaves = list(leaves)
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.heads = heads
        self.glyph_size = glyph_size
        self.glyph_layers = glyph_layers
        self.line_layers = line_layers
        self.decoder_layers = decoder_layers
        self.window = window
        self.max_tokens = max_tokens
        kwargs.setdefault("tie_word_embeddings", False)
        super().__init__(**kwargs)


@dataclass
class Lines:
    """What the eye delivers for a batch of pages or regions; lines of all rows in one list.

    ``glyphs`` float ``[lines, width, glyph_size]``, ``symbols`` long ``[lines, width, 4]``
    (UTF-8 bytes of the best symbol), ``sure`` float ``[lines, width]`` (its probability),
    ``read`` long ``[lines, width, 4]`` (the token that starts at this character of the
    recogniser's own reading, and those of its single bytes from the second on; 0 for none),
    ``whole`` float ``[lines, width]`` (the least probability within that token), ``lengths``
    long ``[lines]``, ``geometry`` float ``[lines, 8]`` (see `vision.geometry`), ``hints`` long
    ``[lines, 2]`` (see `vision.Sight`), ``counts``: lines of every row, in visual order.
    """

    glyphs: Tensor
    symbols: Tensor
    read: Tensor
    sure: Tensor
    whole: Tensor
    lengths: Tensor
    geometry: Tensor
    hints: Tensor
    counts: list[int]


@dataclass
class Memory:
    """Encoded lines. Index 0 is the null line, which is read before any pointer.

    ``vectors`` ``[1 + lines, hidden]``; ``pointers`` ``[rows, most, hidden]``; ``keys`` and
    ``values`` for each decoder layer ``[1 + lines, heads, width, size]``; ``mask`` bool
    ``[1 + lines, width]``, ``lengths`` how much of each line it is; ``rows`` long
    ``[rows, most]`` holds the indices of each row's lines, 0 where it has no more;
    ``geometry`` ``[1 + lines, 8]``; ``hint`` and ``rank`` ``[1 + lines]``; ``read``
    ``[1 + lines, width, 4]``, ``sure`` ``[1 + lines, width]`` its log odds; ``above``, ``left``
    and ``earlier`` ``[rows, most, most]`` (see `_before`).
    """

    vectors: Tensor
    pointers: Tensor
    keys: list[Tensor]
    values: list[Tensor]
    mask: Tensor
    lengths: Tensor
    rows: Tensor
    geometry: Tensor
    hint: Tensor
    rank: Tensor
    read: Tensor
    sure: Tensor
    above: Tensor
    left: Tensor
    earlier: Tensor

    def select(self, rows: list[int]) -> Memory:
        """The memory of some of the rows."""
        at = torch.tensor(rows, device=self.rows.device)
        return Memory(
            self.vectors, self.pointers[at], self.keys, self.values, self.mask, self.lengths,
            self.rows[at], self.geometry, self.hint, self.rank, self.read, self.sure,
            self.above[at], self.left[at], self.earlier[at],
        )  # fmt: skip


@dataclass
class Layout:
    """Where packed tokens or glyphs stand in their sequences. Layers work on packed ones, so
    that padding costs nothing except where a sequence looks at itself.

    ``real`` bool ``[sequences, length]``; ``at`` long: places of what is real, or None if all is.
    """

    real: Tensor
    at: Tensor | None

    @classmethod
    def of(cls, real: Tensor) -> Layout:
        return cls(real, None if real.all() else real.flatten().nonzero()[:, 0])

    @cached_property
    def row(self) -> Tensor:
        """The sequence of everything packed."""
        rows = torch.arange(len(self.real), device=self.real.device)
        return self.pack(rows[:, None].expand(self.real.shape))

    def pack(self, x: Tensor) -> Tensor:
        """``[sequences, length, ...]`` as ``[real, ...]``."""
        flat = x.flatten(0, 1)
        return flat if self.at is None else flat[self.at]

    def lay(self, x: Tensor) -> Tensor:
        """Inverse of `pack`, zeros where nothing is real."""
        shape = *self.real.shape, *x.shape[1:]
        if self.at is None:
            return x.view(shape)
        return x.new_zeros(self.real.numel(), *x.shape[1:]).index_copy_(0, self.at, x).view(shape)


@dataclass
class Turn:
    """Rotary positions (Su et al. 2021): ``cos`` and signed ``sin``, ``[real, 1, size of a head]``,
    one for all heads."""

    sin: Tensor
    cos: Tensor

    @classmethod
    def to(cls, position: Tensor, half: int, dtype: torch.dtype) -> Turn:
        """``position`` ``[real]``. ``dtype`` is that of the weights: in bfloat16, angles would be
        wrong by whole radians."""
        steps = torch.arange(half, device=position.device, dtype=dtype)
        angle = position[:, None].to(dtype) * torch.exp(-math.log(10000.0) * steps / half)
        sin, cos = angle.sin()[:, None], angle.cos()[:, None]
        return cls(torch.cat([-sin, sin], dim=-1), torch.cat([cos, cos], dim=-1))

    def __call__(self, x: Tensor) -> Tensor:
        """Rotate ``x`` ``[real, heads, size of a head]``, its first half against the second."""
        other = x.roll(x.shape[-1] // 2, dims=-1)
        return torch.addcmul(x * self.cos.to(x.dtype), other, self.sin.to(x.dtype))


class Attention(nn.Module):
    """The projections of multi-head attention with rotary positions, on packed sequences:
    ``[real, size]`` to ``[real, heads, size of a head]`` and back."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size)
        self.key_value = nn.Linear(size, 2 * size)
        self.out = nn.Linear(size, size)

    def queries(self, x: Tensor, turn: Turn) -> Tensor:
        return turn(self.query(x).unflatten(-1, (self.heads, -1)))

    def keys_values(self, x: Tensor, turn: Turn) -> tuple[Tensor, Tensor]:
        key, value = self.key_value(x).chunk(2, dim=-1)
        split = self.heads, -1
        return turn(key.unflatten(-1, split)), value.unflatten(-1, split)

    def join(self, mixed: Tensor) -> Tensor:
        return self.out(mixed.flatten(-2))


def mix(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Scaled dot-product attention ``[..., queries, size]``. Spelled out: on a CPU two matrix
    products beat the fused kernel, backward above all."""
    score = query / math.sqrt(query.shape[-1]) @ key.transpose(-1, -2)
    score.masked_fill_(~mask, torch.finfo(score.dtype).min)
    return score.softmax(dim=-1) @ value


def by_length(lengths: Tensor) -> list[Tensor]:
    """Indices of sequences of similar length: padded to the longest of all, the short ones
    would cost as much as the long ones."""
    if len(lengths) * int(lengths.max()) ** 2 < SMALL:
        return [torch.arange(len(lengths), device=lengths.device)]
    group = torch.bucketize(lengths, torch.tensor(EDGES, device=lengths.device))
    return [at for i in range(len(EDGES) + 1) if len(at := (group == i).nonzero()[:, 0])]


def feed_forward(size: int) -> nn.Sequential:
    return nn.Sequential(
        nn.LayerNorm(size), nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size)
    )


class EncoderLayer(nn.Module):
    """Sequences see themselves."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.attention = Attention(size, heads)
        self.forward_ = feed_forward(size)

    def forward(self, x: Tensor, layout: Layout, turn: Turn) -> Tensor:
        normed = self.norm(x)
        query = layout.lay(self.attention.queries(normed, turn)).transpose(1, 2)
        key, value = (
            layout.lay(t).transpose(1, 2) for t in self.attention.keys_values(normed, turn)
        )
        mixed = mix(query, key, value, layout.real[:, None, None, :])
        x = x + self.attention.join(layout.pack(mixed.transpose(1, 2)))
        return x + self.forward_(x)


class DecoderLayer(nn.Module):
    """Text sees the text before it, and the line that it reads."""

    def __init__(self, size: int, heads: int, index: int) -> None:
        super().__init__()
        self.index = index
        self.norm = nn.LayerNorm(size)
        self.attention = Attention(size, heads)
        self.look_norm = nn.LayerNorm(size)
        self.look = Attention(size, heads)
        self.forward_ = feed_forward(size)

    def forward(
        self, x: Tensor, layout: Layout, turn: Turn, mask: Tensor, cache: Any, looking: Looking
    ) -> Tensor:
        normed = self.norm(x)
        query = layout.lay(self.attention.queries(normed, turn)).transpose(1, 2)
        key, value = (
            layout.lay(t).transpose(1, 2) for t in self.attention.keys_values(normed, turn)
        )
        if cache is not None:
            key, value = cache.update(key, value, self.index)
        mixed = mix(query, key, value, mask)
        x = x + self.attention.join(layout.pack(mixed.transpose(1, 2)))
        x = x + looking.read(self.look, self.look_norm(x), self.index)
        return x + self.forward_(x)


class Looking:
    """Text tokens grouped by the line that they read, so that each attends to its own line.

    ``line`` long ``[queries]`` indexes the memory, ``turn`` is by the number of characters
    written of that line.
    """

    def __init__(self, memory: Memory, line: Tensor, turn: Turn) -> None:
        lines, group = line.unique(return_inverse=True)
        order = group.argsort(stable=True)
        counts = torch.bincount(group)
        starts = counts.cumsum(0) - counts
        rank = torch.empty_like(order)
        rank[order] = torch.arange(len(line), device=line.device) - starts[group[order]]
        self.turn = turn
        self.groups: list[tuple[Tensor, Tensor, int, Tensor, int]] = []
        lengths = memory.lengths[lines]
        place = torch.empty_like(lines)
        for chosen in by_length(lengths):
            place[chosen] = torch.arange(len(chosen), device=line.device)
            queries = torch.isin(group, chosen).nonzero()[:, 0]
            width = int(counts[chosen].max())
            slot = place[group[queries]] * width + rank[queries]
            longest = int(lengths[chosen].max())
            self.groups.append((queries, slot, width, lines[chosen], longest))
        self.memory = memory

    def read(self, attention: Attention, x: Tensor, layer: int) -> Tensor:
        query = attention.queries(x, self.turn)
        mixed = torch.empty_like(query)
        for queries, slot, width, lines, longest in self.groups:
            grouped = query.new_zeros(len(lines) * width, *query.shape[1:])
            grouped.index_copy_(0, slot, query[queries])
            seen = mix(
                grouped.unflatten(0, (len(lines), width)).transpose(1, 2),
                self.memory.keys[layer][lines, :, :longest],
                self.memory.values[layer][lines, :, :longest],
                self.memory.mask[lines, None, None, :longest],
            )
            mixed.index_copy_(0, queries, seen.transpose(1, 2).flatten(0, 1)[slot])
        return attention.join(mixed)


class Pointer(nn.Module):
    """Scores every line of the row as the next to be read.

    What is being said (a bilinear form of the text state and the line) plus where the line
    stands relative to the one being read and to those still unread.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)
        self.pair = nn.Sequential(nn.Linear(PAIR, 64), nn.GELU(), nn.Linear(64, 1))
        self.gate = nn.Linear(size, 1)

    def forward(
        self, x: Tensor, layout: Layout, memory: Memory, line: Tensor, gaze: Tensor, seen: Tensor
    ) -> Tensor:
        """``[real, most]``; ``line`` ``[real]`` indexes the memory, ``gaze`` ``[real]`` the gazes
        of all rows, ``seen`` is as for the whole model."""
        query = layout.lay(self.query(x)) / math.sqrt(x.shape[-1])
        score = layout.pack(query @ memory.pointers.transpose(1, 2))
        lines = line.new_zeros(seen.shape[:2]).flatten().index_copy(0, gaze, line)
        pair = self.pair(pair_features(memory, lines.view(seen.shape[:2]), seen)).squeeze(-1)
        taken = (memory.rows == 0)[:, None] | (seen > 0)
        score = score + pair.flatten(0, 1)[gaze] + self.gate(x)
        return score.masked_fill(taken.flatten(0, 1)[gaze], -torch.inf)


class Copy(nn.Module):
    """Raises the score of what the pipeline says comes next, by as much as the text state agrees
    with it: the token that the recogniser reads at the current character or at one of its
    neighbours (a lost or doubled character shifts the rest of its line), by how sure it was, and
    at the head of a line the mark of its hint. See et al. 2017 (pointer-generator networks)."""

    OFFSETS = (0, -1, 1)

    def __init__(self, size: int) -> None:
        super().__init__()
        self.agree = nn.Linear(size, size)
        self.trust = nn.Linear(size, len(self.OFFSETS))
        self.sure = nn.Parameter(torch.tensor([0.3, 0.0, 0.0]))
        self.follow = nn.Linear(size, 2)

    def forward(
        self, words: Tensor, x: Tensor, embedding: Tensor, memory: Memory, ids: Tensor,
        line: Tensor, character: Tensor, inner: Tensor,
    ) -> Tensor:  # fmt: skip
        """``words`` ``[queries, vocabulary]`` is changed in place; ``line``, ``character`` and
        ``inner`` say what each query, whose token is ``ids``, looks at."""
        agree, trust, follow = self.agree(x), self.trust(x), self.follow(x)
        width = memory.read.shape[1]
        at = character[:, None] + torch.tensor(self.OFFSETS, device=x.device)
        inside = (at >= 0) & (at < width)
        # Within a character there is no other place to go on.
        inside[:, 1:] &= (inner == 0)[:, None]
        at = at.clamp(0, width - 1)
        hint = memory.hint[line]
        head = ids >= words.shape[1]
        tokens = torch.cat([memory.read[line[:, None], at, inner[:, None]], hint[:, None]], dim=1)
        agreed = (embedding[tokens] @ agree[:, :, None]).squeeze(-1) / math.sqrt(x.shape[-1])
        read = trust + self.sure * memory.sure[line[:, None], at]
        bonus = agreed + torch.cat([read, follow[:, :1]], dim=1)
        said = (head & (hint >= P))[:, None]
        bonus = bonus * torch.cat([inside & (tokens[:, :-1] > 0), said], dim=1)
        words.scatter_add_(1, tokens, bonus.to(words.dtype))
        less = follow[:, 1] * (head & (hint == Hint.GOES_ON))
        words[:, P : len(SPECIAL)] -= less[:, None]
        return words


def longest_text(glyphs: Tensor) -> Tensor:
    """Characters that a line of ``glyphs`` glyphs can hold: the recogniser may have lost some."""
    return glyphs * 3 // 2 + 16


def forbid(words: Tensor, before: Tensor, full: Tensor) -> Tensor:
    """Rule out what the grammar does not allow after the tokens ``before`` ``[queries]``;
    ``full`` says where the line being read holds no more text (or there is none).
    ``words`` ``[queries, vocabulary]`` is changed in place."""
    never = -torch.inf
    join = before == JOIN
    words[..., PAGE : REGION + 1] = never
    words[..., JOIN].masked_fill_(join, never)
    words[..., P : len(SPECIAL)].masked_fill_((before < words.shape[-1])[..., None], never)
    words[(full | join).nonzero()[:, 0], len(SPECIAL) :] = never
    return words


def pair_features(memory: Memory, line: Tensor, seen: Tensor) -> Tensor:
    """From the line being read, ``[rows, gazes]``, to every candidate: float
    ``[rows, gazes, most, PAIR]``."""
    here = memory.geometry[line][:, :, None, :]
    there = memory.geometry[memory.rows][:, None]
    x0, y0, x1, _, size, _, unit, _ = there.unbind(-1)
    a0, b0, a1, b1, own, _, _, _ = here.unbind(-1)
    unit = unit.clamp(min=1e-4)
    most = memory.rows.shape[1]
    # Counted within the row: where a row stands in its batch is nobody's business.
    place = torch.where(line > 0, line - memory.rows[:, :1] + 1, 0)
    ahead = torch.arange(1, most + 1, device=line.device) - place[..., None]
    above, left, earlier = (
        ((1.0 - seen) @ relation.transpose(1, 2)).clamp(max=3) / 3
        for relation in (memory.above, memory.left, memory.earlier)
    )
    own_rank, ranks = memory.rank[line][..., None], memory.rank[memory.rows][:, None]
    ranked = (ranks >= 0) & ((own_rank >= 0) | (line == 0)[..., None])
    further = (ranks - own_rank).clamp(-5, 5) * ranked
    shared = (torch.minimum(x1, a1) - torch.maximum(x0, a0)).clamp(min=-0.2)
    started = (line > 0).to(x0.dtype)[..., None]
    features = [
        ((y0 - b1) / unit / 2).clamp(-3, 3),
        ((y0 - b0) / unit / 10).clamp(-3, 3),
        ((x0 - a0) / unit / 4).clamp(-3, 3),
        ((x1 - a1) / unit / 4).clamp(-3, 3),
        ((x0 - a1) / unit / 4).clamp(-3, 3),
        (size - own).clamp(-2, 2),
        shared,
        (ahead == 1).to(x0.dtype),
        (ahead.clamp(-5, 5) / 5).to(x0.dtype),
        seen,
        above,
        left,
        started,
        x0,
        y0,
        size,
        (further == 1).to(x0.dtype),
        (further / 5).to(x0.dtype),
        earlier,
    ]
    return torch.stack([each.expand_as(seen) for each in features], dim=-1)


class DocparseMiniForConditionalGeneration(PreTrainedModel):
    config: DocparseMiniConfig
    config_class = DocparseMiniConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"

    def __init__(self, config: DocparseMiniConfig) -> None:
        super().__init__(config)
        size, heads = config.hidden_size, config.heads
        self.glyph_in = nn.Linear(config.glyph_size + 1, size)
        self.symbol_in = nn.ModuleList(nn.Embedding(NO_BYTE + 1, size) for _ in range(BYTES))
        self.glyph_layers = nn.ModuleList(
            EncoderLayer(size, heads) for _ in range(config.glyph_layers)
        )
        self.summary = nn.Linear(3 * size, size)
        self.place = nn.Sequential(
            nn.Linear(GEOMETRY + 8 * len(WAVES), size), nn.GELU(), nn.Linear(size, size)
        )
        self.hint = nn.Embedding(len(SPECIAL), size)
        self.line_layers = nn.ModuleList(
            EncoderLayer(size, heads) for _ in range(config.line_layers)
        )
        self.line_norm = nn.LayerNorm(size)
        self.glyph_norm = nn.LayerNorm(size)
        self.nothing = nn.Parameter(torch.zeros(2, size))

        self.embedding = nn.Embedding(config.vocab_size + 1, size)
        self.pointed = nn.Linear(size, size)
        self.current = nn.Linear(size, size)
        self.progress = nn.Linear(3, size)
        decoders = [DecoderLayer(size, heads, i) for i in range(config.decoder_layers)]
        self.decoder_layers = nn.ModuleList(decoders)
        self.norm = nn.LayerNorm(size)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.copy = Copy(size)
        self.pointer = Pointer(size)
        self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    def turn(self, position: Tensor) -> Turn:
        half = self.config.hidden_size // self.config.heads // 2
        return Turn.to(position, half, self.embedding.weight.dtype)

    def encode(self, lines: Lines) -> Memory:
        """Read the lines: what does not depend on the text is computed once."""
        count, width, _ = lines.glyphs.shape
        at = torch.arange(width, device=lines.glyphs.device)
        lengths = lines.lengths.clamp(min=1)
        mask = at < lengths[:, None]
        x = self.glyph_in(torch.cat([lines.glyphs, lines.sure[..., None]], dim=-1)[mask])
        for i, embedding in enumerate(self.symbol_in):
            x = x + embedding(lines.symbols[..., i][mask])
        whose = torch.arange(count, device=x.device).repeat_interleave(lengths)
        rank = at.expand(mask.shape)[mask]
        for lines_ in by_length(lengths):
            inside = torch.isin(whose, lines_).nonzero()[:, 0]
            layout = Layout.of(mask[lines_, : int(lengths[lines_].max())])
            part, turn = x[inside], self.turn(rank[inside])
            for layer in self.glyph_layers:
                part = layer(part, layout, turn)
            x = x.index_copy(0, inside, part)
        mean = x.new_zeros(count, x.shape[1]).index_add(0, whose, x) / lengths[:, None]
        ends = lengths.cumsum(0)
        summary = self.summary(torch.cat([mean, x[ends - lengths], x[ends - 1]], dim=-1))
        vectors = summary + self.place(_waves(lines.geometry)) + self.hint(lines.hints[:, 0])

        most = max(lines.counts)
        counts = torch.tensor(lines.counts, device=x.device)
        layout = Layout.of(torch.arange(most, device=x.device) < counts[:, None])
        rows = layout.lay(torch.arange(1, count + 1, device=x.device))
        turn = self.turn(layout.pack(torch.arange(most, device=x.device).expand(rows.shape)))
        for layer in self.line_layers:
            vectors = layer(vectors, layout, turn)
        vectors = self.line_norm(vectors)
        # The null line: one glyph that says nothing.
        x = self.glyph_norm(x + vectors[whose])
        x = torch.cat([self.nothing[1:].to(x.dtype), x])
        vectors = torch.cat([self.nothing[:1].to(vectors.dtype), vectors])
        layout = Layout.of(torch.cat([(at < 1)[None], mask]))
        turn = self.turn(torch.cat([rank[:1], rank]))
        looks = [layer.look for layer in self.decoder_layers if isinstance(layer, DecoderLayer)]
        pairs = [look.keys_values(x, turn) for look in looks]
        keys = [layout.lay(key).transpose(1, 2) for key, _ in pairs]
        values = [layout.lay(value).transpose(1, 2) for _, value in pairs]
        pointers = self.pointer.key(vectors)[rows]
        geometry = torch.cat([lines.geometry.new_zeros(1, GEOMETRY), lines.geometry])
        hint, order = functional.pad(lines.hints, (0, 0, 1, 0)).unbind(1)
        order[0] = -1
        read = functional.pad(lines.read, (0, 0, 0, 0, 1, 0))
        odds = (lines.whole + 1e-3) / (1 - lines.whole + 1e-3)
        odds = functional.pad(odds, (0, 0, 1, 0), value=1.0)
        before = _before(geometry[rows], order[rows], rows > 0)
        return Memory(
            vectors, pointers, keys, values, layout.real, layout.real.sum(1), rows, geometry,
            hint, order, read, odds.log(), *before,
        )  # fmt: skip

    def forward(
        self,
        input_ids: Tensor,
        memory: Memory,
        line: Tensor,
        character: Tensor,
        inner: Tensor,
        gaze: Tensor,
        seen: Tensor,
        position_ids: Tensor,
        attention_mask: Tensor,
        real: Tensor | None = None,
        cache: Any = None,
        labels: Tensor | None = None,
        **_: Any,
    ) -> CausalLMOutputWithPast:
        """Logits over the vocabulary and the row's lines: ``[real, vocabulary + most]``, of all
        rows one after the other.

        ``line``, ``character`` and ``inner`` say where each token looks (`dialect.Gaze`;
        ``line`` counts within the row, -1 for none). ``seen`` float ``[rows, gazes, most]``:
        the lines pointed at, which change with the line being read alone; ``gaze`` says which of
        its row's gazes each token has. ``attention_mask`` is bool ``[rows, 1, queries, slots]``;
        ``real`` bool ``[rows, queries]`` says which queries are no padding.
        """
        vocabulary = self.config.vocab_size
        layout = Layout.of(torch.ones_like(input_ids, dtype=torch.bool) if real is None else real)
        at = layout.pack(memory.rows.gather(1, line.clamp(min=0)) * (line >= 0))
        gaze = gaze + seen.shape[1] * torch.arange(len(seen), device=gaze.device)[:, None]
        ids, character, inner, gaze, position = map(
            layout.pack, (input_ids, character, inner, gaze, position_ids)
        )
        x = self.embedding(ids.clamp(max=vocabulary))
        here = memory.vectors[at]
        x = x + self.pointed(here) * (ids >= vocabulary)[:, None] + self.current(here)
        total = (memory.rows > 0).sum(1).to(x.dtype)[layout.row]
        left = total - seen.sum(-1).flatten()[gaze]
        progress = [left / total.clamp(min=1), (left + 1).log() / 5, (left == 0).to(x.dtype)]
        x = x + self.progress(torch.stack(progress, dim=-1))
        turn = self.turn(position)
        looking = Looking(memory, at, self.turn(character))
        for layer in self.decoder_layers:
            x = layer(x, layout, turn, attention_mask, cache, looking)
        x = self.norm(x)
        words = functional.linear(x, self.embedding.weight[:vocabulary], self.bias)
        words = self.copy(words, x, self.embedding.weight, memory, ids, at, character, inner)
        full = (at == 0) | (character >= longest_text(memory.lengths[at]))
        words = forbid(words, ids, full)
        logits = torch.cat([words, self.pointer(x, layout, memory, at, gaze, seen)], dim=-1)
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits, layout.pack(labels))
        return CausalLMOutputWithPast(loss=loss, logits=logits)


def _waves(geometry: Tensor) -> Tensor:
    angles = geometry[:, :4, None] * math.pi * torch.tensor(WAVES, device=geometry.device)
    angles = angles.to(geometry.dtype).flatten(1)
    return torch.cat([geometry, angles.sin(), angles.cos()], dim=-1)


def _before(geometry: Tensor, rank: Tensor, real: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``above[r, j, k]``: line k stands above line j and shares columns with it;
    ``left[r, j, k]``: k stands left of j in the same visual line; ``earlier[r, j, k]``: the
    layout pipeline reads k before j."""
    x0, y0, x1, y1 = geometry[..., :4].unbind(-1)
    middle = (y0 + y1) / 2
    both = real[:, :, None] & real[:, None, :]
    columns = torch.minimum(x1[:, :, None], x1[:, None, :]) > torch.maximum(
        x0[:, :, None], x0[:, None, :]
    )
    above = (middle[:, None, :] < y0[:, :, None]) & columns & both
    level = (middle[:, None, :] > y0[:, :, None]) & (middle[:, None, :] < y1[:, :, None])
    left = level & (x1[:, None, :] <= x0[:, :, None] + 1e-4) & both
    earlier = (rank[:, None, :] >= 0) & (rank[:, None, :] < rank[:, :, None]) & both
    dtype = geometry.dtype
    return above.to(dtype), left.to(dtype), earlier.to(dtype)


AutoConfig.register("docparse_mini", DocparseMiniConfig)
AutoModelForImageTextToText.register(DocparseMiniConfig, DocparseMiniForConditionalGeneration)
