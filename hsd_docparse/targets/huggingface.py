"""Vision-language models from Hugging Face, as targets that read pages."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from hsd_docparse.document import Page, Region
from hsd_docparse.errors import TargetError
from hsd_docparse.speculative import (
    Budget,
    Loop,
    MaxLength,
    Processor,
    RepetitionPenalty,
    Stop,
    StopTokens,
)
from hsd_docparse.targets.family import REGION_MARGIN, Family
from hsd_docparse.targets.hunyuan import HUNYUAN
from hsd_docparse.targets.markdown_blocks import LEFT_OUT, parse_markdown, place_blocks
from hsd_docparse.targets.qwen_vl import QWEN_VL
from hsd_docparse.targets.vision_language import VisionLanguageModel, VisionPrompt
from hsd_docparse.targets.weighed import EXACT, TEXT_LAYER, WeighedDraft

if TYPE_CHECKING:
    from PIL import Image

FAMILIES = {kind: family for family in (HUNYUAN, QWEN_VL) for kind in family.model_types}

UNSUPPORTED = {
    "no_repeat_ngram_size": 0,
    "encoder_repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "min_length": 0,
    "min_new_tokens": 0,
    "num_beams": 1,
    "bad_words_ids": None,
    "sequence_bias": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "guidance_scale": 1.0,
}
"""Settings of generate() that change greedy decoding and that verification does not apply,
with the values at which they do nothing."""


class HuggingFaceTarget(VisionLanguageModel):
    """A `DocumentTarget`: a model, its tokenizer and image processor, and its family's ways.

    ``image_processor`` is one without torchvision (``...Pil``). Raises `TargetError` for
    models that cannot verify, and for generation settings that would make "the model's own
    greedy decoding" something else than what is verified.
    """

    budget = Budget()

    def __init__(
        self, name: str, model: Any, tokenizer: Any, image_processor: Any, family: Family
    ) -> None:
        super().__init__(model)
        self.name = name
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.family = family
        settings = model.generation_config
        for setting, harmless in UNSUPPORTED.items():
            value = getattr(settings, setting, None)
            if value is not None and value != harmless:
                raise TargetError(
                    f"{name} asks for {setting}={value} in its generation config, which "
                    "verification does not support."
                )
        self.repetition_penalty: float = settings.repetition_penalty or 1.0
        ends = settings.eos_token_id
        if ends is None:
            ends = tokenizer.eos_token_id
        self.ends: list[int] = ends if isinstance(ends, list) else [ends]

    def page_inputs(self, image: Image.Image, page: Page) -> VisionPrompt:
        return self._prompt(image, self.family.page_prompt, page)

    def covers(self, region: Region) -> bool:
        return True

    def readable(self, page: Page) -> list[int]:
        """What the family writes at all; nothing where the page itself is the only region."""
        regions = [i for i, region in enumerate(page.regions) if region.kind not in LEFT_OUT]
        return regions if len(regions) > 1 else []

    def region_inputs(
        self, image: Image.Image, page: Page, regions: Sequence[int]
    ) -> list[VisionPrompt]:
        scale = image.width / page.width
        prompts = []
        for region in (page.regions[i] for i in regions):
            box = region.box.scaled(scale).expanded(REGION_MARGIN)
            crop = image.crop(
                (
                    max(0, int(box.x0)),
                    max(0, int(box.y0)),
                    min(image.width, int(box.x1) + 1),
                    min(image.height, int(box.y1) + 1),
                )
            )
            text = self.family.region_prompts.get(region.kind, self.family.region_prompt)
            prompts.append(self._prompt(crop, text, page))
        return prompts

    def region_draft(self, page: Page, region: int) -> list[int]:
        return self._draft(self.family.serialise(page.regions[region]))

    def page_drafts(self, page: Page, outputs: dict[int, list[int]]) -> list[list[int]]:
        """One text: the regions in the draft's order, so that a match runs on across the
        break between two of them where the target keeps that order."""
        return [self._draft("".join(text for _, text in self._pieces(page, outputs)))]

    def weighed_draft(self, page: Page) -> WeighedDraft:
        """A token is as sure as its region is, and so is the end as the last region."""
        pieces = list(self._pieces(page, {}))
        if not pieces:
            return WeighedDraft([], [], [])
        text = "".join(text for _, text in pieces)
        coded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ends = list(accumulate(len(text) for _, text in pieces))
        owners = [pieces[bisect_left(ends, end)][0] for _, end in coded.offset_mapping]
        owners.append(pieces[-1][0])
        return WeighedDraft(
            [*coded.input_ids, self.ends[0]],
            [min(region.confidence, TEXT_LAYER) for region in owners],
            [region.kind in EXACT for region in owners],
        )

    def _pieces(self, page: Page, outputs: dict[int, list[int]]) -> Iterator[tuple[Region, str]]:
        """Every region that is written, with its text and what parts it from the one before."""
        before = None
        for i, region in enumerate(page.regions):
            said = self._text(outputs[i]) if i in outputs else self.family.serialise(region)
            if not said.strip():
                continue
            gap = "" if before is None else "\n\n"
            if before == region.kind == "list_item":
                gap = "\n"
            yield region, gap + said.strip("\n")
            before = region.kind

    def stops(self, inputs: VisionPrompt) -> list[Stop[int]]:
        return [StopTokens(self.ends), Loop(), MaxLength(self.family.max_tokens)]

    def processors(self, inputs: VisionPrompt) -> list[Processor]:
        if self.repetition_penalty == 1.0:
            return []
        return [RepetitionPenalty(self.repetition_penalty, inputs.ids)]

    def regions(self, page: Page, output: Sequence[int]) -> list[Region]:
        return place_blocks(page, parse_markdown(self._text(output)))

    def _text(self, output: Sequence[int]) -> str:
        text: str = self.tokenizer.decode(
            output, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def _draft(self, text: str) -> list[int]:
        """Tokens of ``text`` and the end of the sequence, which is verified like any other."""
        if not text:
            return []
        return [*self.tokenizer(text, add_special_tokens=False).input_ids, self.ends[0]]

    def _prompt(self, image: Image.Image, text: str, page: Page) -> VisionPrompt:
        try:
            pictures = self.image_processor(images=[image.convert("RGB")], return_tensors="pt")
        except ValueError as error:
            raise TargetError(
                f"{self.name} cannot take a picture of {image.width}x{image.height} pixels from "
                f"page {page.number}: {error}."
            ) from error
        grid = pictures["image_grid_thw"]
        merge = self.image_processor.merge_size
        _, height, width = grid[0].tolist()
        content = [{"type": "image"}, {"type": "text", "text": text}]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if self.family.system is not None:
            messages.insert(0, {"role": "system", "content": self.family.system})
        written = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        ids = self.tokenizer(written, add_special_tokens=False).input_ids
        if ids.count(self.image_token) != 1:
            raise TargetError(
                f"The chat template of {self.name} does not write the image token "
                f"{self.image_token} once for a picture, so no prompt can be made."
            )
        at = ids.index(self.image_token)
        count = self.family.image_tokens(height // merge, width // merge)
        ids[at : at + 1] = [self.image_token] * count
        return VisionPrompt(ids, pictures["pixel_values"], grid)


def open_huggingface(name: str) -> HuggingFaceTarget:
    """Open a model folder or a hub id (fetched, or read from the local cache).

    bfloat16 on a GPU, float32 on the CPU. Raises `TargetError`.
    """
    from transformers import (
        AutoConfig,
        AutoImageProcessor,
        AutoModelForImageTextToText,
        AutoTokenizer,
    )

    folder = Path(name).expanduser()
    is_path = folder.is_absolute() or name.startswith(("./", "../", "~"))
    if is_path and not folder.is_dir():
        raise TargetError(f"There is no model folder {name}.")
    where = str(folder) if folder.is_dir() else name
    gpu = torch.cuda.is_available()
    try:
        config = AutoConfig.from_pretrained(where)
        family = FAMILIES.get(config.model_type)
        if family is None:
            raise TargetError(
                f"{name} is a {config.model_type} model, which docparse cannot drive: it knows "
                f"{', '.join(FAMILIES)}."
            )
        model: Any = AutoModelForImageTextToText.from_pretrained(
            where,
            config=config,
            dtype=torch.bfloat16 if gpu else torch.float32,
            attn_implementation="sdpa",
        )
        tokenizer = AutoTokenizer.from_pretrained(where)
        image_processor = AutoImageProcessor.from_pretrained(where, backend="pil")
    except TargetError:
        raise
    except Exception as error:  # a damaged folder fails in as many ways as it has files
        reason = str(error).strip().split("\n")[0]
        raise TargetError(f"The model {name} could not be opened: {reason}") from error
    if not tokenizer.chat_template:
        raise TargetError(f"{name} has no chat template, so no prompt can be written for it.")
    return HuggingFaceTarget(
        name, model.to("cuda" if gpu else "cpu"), tokenizer, image_processor, family
    )
