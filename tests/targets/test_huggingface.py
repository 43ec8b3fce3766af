"""From a model folder to a page: prompts, drafts, processors, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiny_models
import torch
from PIL import Image, ImageDraw
from tiny_models import NAMES
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    HunYuanVLImageProcessorPil,
    HunYuanVLProcessor,
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessorPil,
    Qwen2VLProcessor,
)

from hsd_docparse.document import Box, Page, Region
from hsd_docparse.errors import TargetError
from hsd_docparse.speculative import AlignedText, MaxLength, NoDraft, Request, run
from hsd_docparse.targets import open_target
from hsd_docparse.targets.huggingface import HuggingFaceTarget

TEMPLATE = (
    "{% for m in messages %}{{ m.role }}:"
    "{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for c in m.content %}"
    "{% if c.type == 'image' %}<start><img><end>{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}{% endif %}<eos>{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
LENGTH = 24


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, so that every text has exactly one spelling."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<eos>",
        pad_token="<pad>",
        chat_template=TEMPLATE,
        extra_special_tokens={
            "image_token": "<img>",
            "image_start_token": "<start>",
            "image_end_token": "<end>",
        },
    )


@pytest.fixture(scope="module", params=NAMES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name = str(request.param)
    path: Path = tmp_path_factory.mktemp(name)
    tokenizer = byte_tokenizer()
    token = tokenizer.convert_tokens_to_ids
    model = tiny_models.build(
        name,
        vocabulary=len(tokenizer) + 1,
        words=256,
        image=token("<img>"),
        start=token("<start>"),
        end=token("<end>"),
        eos=token("<eos>"),
        pad=token("<pad>"),
    )
    model.generation_config.repetition_penalty = 1.08
    processor = HunYuanVLImageProcessorPil if name == "hunyuan_vl" else Qwen2VLImageProcessorPil
    sizes = {"shortest_edge": 16 * 16, "longest_edge": 40 * 40}
    for part in (model, tokenizer, processor(patch_size=tiny_models.PATCH, size=sizes)):
        part.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def target(folder: Path) -> HuggingFaceTarget:
    opened = open_target(str(folder))
    assert isinstance(opened, HuggingFaceTarget)
    # bfloat16 on a GPU has near-ties; exactness is judged in float64 in test_vision_language.
    opened.model.to("cpu", torch.float32)
    return opened


@pytest.fixture
def image() -> Image.Image:
    picture = Image.new("RGB", (200, 300), "white")
    ImageDraw.Draw(picture).text((20, 30), "Annual report", "black")
    return picture


@pytest.fixture
def page() -> Page:
    return Page(
        number=3,
        width=100,
        height=150,
        regions=[
            Region("header", Box(5, 2, 95, 8), "Journal 12"),
            Region("title", Box(10, 10, 90, 20), "Annual report", level=1),
            Region("text", Box(10, 30, 90, 50), "The year was good."),
            Region("table", Box(10, 60, 90, 80), "<table>\n<tr><th>a</th></tr>\n</table>"),
            Region("formula", Box(10, 90, 90, 99), r"a^2 + b^2"),
            Region("list_item", Box(10, 100, 90, 110), "first", level=2),
        ],
    )


def text_of(target: HuggingFaceTarget, ids: list[int]) -> str:
    return str(target.tokenizer.decode(ids))


def is_hunyuan(target: HuggingFaceTarget) -> bool:
    return target.model.config.model_type == "hunyuan_vl"


def test_the_prompt_is_what_the_real_processor_makes(
    target: HuggingFaceTarget, image: Image.Image, page: Page
) -> None:
    prompt = target.page_inputs(image, page)
    if not is_hunyuan(target):
        # This class cannot be made without torchvision, but its arithmetic can be asked.
        stand_in: Any = SimpleNamespace(image_processor=target.image_processor, image_token="i")
        placeholders = Qwen2VLProcessor.replace_image_token(
            stand_in, {"image_grid_thw": prompt.grid}, 0
        )
        assert prompt.ids.count(target.image_token) == len(placeholders)
        assert text_of(target, prompt.ids).startswith("user:<start><img>")
        return
    processor = HunYuanVLProcessor(
        image_processor=target.image_processor,
        tokenizer=target.tokenizer,
        chat_template=TEMPLATE,
    )
    content = [{"type": "image"}, {"type": "text", "text": target.family.page_prompt}]
    messages = [{"role": "system", "content": ""}, {"role": "user", "content": content}]
    written = processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    right = processor(images=[image], text=[written], return_tensors="pt")
    assert prompt.ids == right["input_ids"][0].tolist()
    assert torch.equal(prompt.pixels, right["pixel_values"])
    assert torch.equal(prompt.grid, right["image_grid_thw"])
    marked = torch.tensor([prompt.ids]) == target.image_token
    assert torch.equal(marked.int(), right["mm_token_type_ids"].int())


def test_regions_are_cut_with_a_margin_and_asked_for_by_kind(
    target: HuggingFaceTarget, image: Image.Image, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[tuple[int, int]] = []
    real = target.image_processor

    def spy(images: list[Image.Image], **kwargs: Any) -> Any:
        sizes.append(images[0].size)
        return real(images=images, **kwargs)

    spy.merge_size = real.merge_size  # type: ignore[attr-defined]
    monkeypatch.setattr(target, "image_processor", spy)
    prompts = target.region_inputs(image, page, [2, 3, 4])
    # Boxes are in page units, half a pixel each: 160 x 40, and 5 pixels on every side.
    assert sizes == [(171, 51), (171, 51), (171, 29)]
    texts = [text_of(target, prompt.ids) for prompt in prompts]
    prompts_by_kind = target.family.region_prompts
    assert target.family.region_prompt in texts[0]
    assert prompts_by_kind["table"] in texts[1]
    assert prompts_by_kind["formula"] in texts[2]


def test_drafts_are_written_in_the_dialect_of_the_family(
    target: HuggingFaceTarget, page: Page
) -> None:
    drafts = [text_of(target, target.region_draft(page, i)) for i in range(6)]
    table = "<table><tr><td>a</td></tr></table><eos>"
    if is_hunyuan(target):
        right = ["", "Annual report<eos>", "The year was good.<eos>", table]
        right += ["$$ a^2 + b^2 $$<eos>", "first<eos>"]
    else:
        right = ["", "# Annual report<eos>", "The year was good.<eos>", table]
        right += ["$$\na^2 + b^2\n$$<eos>", "  - first<eos>"]
    assert drafts == right


def test_the_page_is_drafted_from_outputs_and_the_rest_from_the_draft(
    target: HuggingFaceTarget, page: Page
) -> None:
    page.regions = [*page.regions[:3], *page.regions[5:] * 2]
    output = target.tokenizer("The year was bad.\n").input_ids + target.ends[:1]
    drafts = target.page_drafts(page, {2: output})
    heading, item = "# Annual report", "  - first"
    if is_hunyuan(target):
        heading, item = "Annual report", "first"
    right = f"{heading}\n\nThe year was bad.\n\n{item}\n{item}<eos>"
    assert [text_of(target, draft) for draft in drafts] == [right]


def test_a_weighed_draft_is_the_page_with_what_its_regions_are(
    target: HuggingFaceTarget, page: Page
) -> None:
    for region, sure in zip(page.regions, [1.0, 0.9, 0.8, 0.7, 0.6, 0.5], strict=True):
        region.confidence = sure
    draft = target.weighed_draft(page)
    assert [draft.tokens] == target.page_drafts(page, {})
    text: dict[tuple[float, bool], str] = {}
    for token, *about in zip(draft.tokens, draft.probabilities, draft.exact, strict=True):
        key = (about[0], bool(about[1]))
        text[key] = text.get(key, "") + text_of(target, [token])
    assert text[0.8, False].strip() == "The year was good."
    assert text[0.7, True].strip() == "<table><tr><td>a</td></tr></table>"
    assert "a^2 + b^2" in text[0.6, True]
    assert text[0.5, False].strip().endswith("first<eos>")


def test_stage_one_reads_what_the_family_writes(target: HuggingFaceTarget, page: Page) -> None:
    assert target.readable(page) == [1, 2, 3, 4, 5]
    page.regions = page.regions[:2]
    assert target.readable(page) == [], "the only region is the page"


def test_a_page_is_read_as_generate_reads_it_with_the_models_own_penalty(
    target: HuggingFaceTarget, image: Image.Image, page: Page
) -> None:
    prompt = target.page_inputs(image, page)
    ids = torch.tensor([prompt.ids])
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "pixel_values": prompt.pixels,
        "image_grid_thw": prompt.grid,
        "mm_token_type_ids": (ids == target.image_token).int(),
    }
    said = target.model.generate(**inputs, do_sample=False, max_new_tokens=LENGTH)
    plain = target.model.generate(
        **inputs, do_sample=False, max_new_tokens=LENGTH, repetition_penalty=1.0
    )
    truth = said[0, len(prompt.ids) :].tolist()
    assert truth != plain[0, len(prompt.ids) :].tolist(), "the penalty must matter here"
    for drafter in (NoDraft(), AlignedText([truth]), AlignedText(target.page_drafts(page, {}))):
        request: Request[int] = Request(
            target.open([prompt])[0],
            drafter,
            [*target.stops(prompt), MaxLength(LENGTH)],
            processors=target.processors(prompt),
        )
        run(target, [request])
        assert request.output == truth


def test_what_was_read_becomes_regions(target: HuggingFaceTarget, page: Page) -> None:
    output = target.page_drafts(page, {})[0]
    read = target.regions(page, output)
    assert [(r.kind, r.box, r.text) for r in read[:3]] == [
        (r.kind, r.box, r.text) for r in page.regions[:3]
    ]
    assert read[3].text == "<table><tr><td>a</td></tr></table>"
    assert [r.provenance for r in read] == ["draft"] + ["accepted"] * 5


def test_pictures_out_of_range_are_an_error_with_a_page(
    target: HuggingFaceTarget, page: Page
) -> None:
    with pytest.raises(TargetError, match="2000x2 pixels from page 3"):
        target.page_inputs(Image.new("RGB", (2000, 2)), page)


def test_a_chat_template_without_pictures_is_an_error(
    target: HuggingFaceTarget, image: Image.Image, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target.tokenizer, "chat_template", TEMPLATE.replace("<img>", ""))
    with pytest.raises(TargetError, match=r"does not write the image token [0-9]+ once"):
        target.page_inputs(image, page)


def test_settings_that_verification_does_not_apply_are_refused(target: HuggingFaceTarget) -> None:
    settings = target.model.generation_config
    settings.no_repeat_ngram_size = 5
    try:
        with pytest.raises(TargetError, match="no_repeat_ngram_size=5"):
            HuggingFaceTarget("it", target.model, None, None, target.family)
    finally:
        settings.no_repeat_ngram_size = None


def test_what_cannot_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(TargetError, match="no model folder"):
        open_target(str(tmp_path / "none"))
    with pytest.raises(TargetError, match=r"The model \S+ could not be opened"):
        open_target(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(TargetError, match="is a llama model, which docparse cannot drive"):
        open_target(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "nothing_known"}))
    with pytest.raises(TargetError, match="could not be opened"):
        open_target(str(tmp_path))
    with pytest.raises(TargetError, match="could not be opened"):
        open_target("nobody/no-such-model")
