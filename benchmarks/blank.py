"""Pages that hold no text: whatever is read on them was invented.

    python -m benchmarks.blank [--pages 200] [--target none|mini] [--keep FOLDER]

Blank sheets with the shadows and specks of a scanner, noise, invented photographs, drawings of
lines and boxes; as PNG, JPEG and PDF. Figures without text may be found there, and nothing else.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from hsd_docparse import Document, parse

Field = NDArray[np.float64]
SIZES = [(1240, 1754), (1754, 1240), (1000, 1000), (827, 1169), (1600, 1067)]
SUFFIXES = [".png", ".jpg", ".pdf"]


class Brush:
    """Draws one page of a size from one seed."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(self.rng.getrandbits(64))
        self.width, self.height = self.rng.choice(SIZES)

    def paper(self, tint: tuple[int, int, int]) -> Image.Image:
        return Image.new("RGB", (self.width, self.height), tint)

    def picture(self, field: Field) -> Image.Image:
        """Grey levels of a field that is scaled to its own range, in a random tint."""
        low, high = field.min(), field.max()
        level = (field - low) / max(high - low, 1e-9)
        dark, light = self.numbers.integers(0, 120, 3), self.numbers.integers(130, 256, 3)
        pixels = dark + level[..., None] * (light - dark)
        return Image.fromarray(pixels.astype(np.uint8))

    def clouds(self, roughness: float) -> Field:
        """Noise with a spectrum that falls with this power of the frequency: from grain (0) over
        stone (1) and clouds (2) to hills (3)."""
        across = np.fft.rfftfreq(self.width)
        down = np.fft.fftfreq(self.height)
        frequency = np.hypot(down[:, None], across)
        frequency[0, 0] = 1
        phases = self.numbers.uniform(0, 2 * np.pi, frequency.shape)
        spectrum = np.exp(1j * phases) / frequency**roughness
        return np.fft.irfft2(spectrum, (self.height, self.width))

    def box(self, least: int, most: int) -> tuple[int, int, int, int]:
        w, h = self.rng.randint(least, most), self.rng.randint(least, most)
        x, y = self.rng.randint(0, self.width - w), self.rng.randint(0, self.height - h)
        return x, y, x + w, y + h

    def colour(self) -> tuple[int, int, int]:
        return self.rng.randrange(256), self.rng.randrange(256), self.rng.randrange(256)


def sheet(brush: Brush) -> Image.Image:
    """White, grey, off-white or black."""
    grey = brush.rng.choice([255, 255, 240, 200, 128, 0])
    return brush.paper((grey, grey, max(0, grey - brush.rng.choice([0, 12, 30]))))


def scan(brush: Brush) -> Image.Image:
    """A blank sheet with grain, the shadow of its edges, specks, streaks, holes and stains."""
    rng = brush.rng
    image = brush.paper((rng.randint(225, 255),) * 2 + (rng.randint(210, 250),))
    pen = ImageDraw.Draw(image)
    for _ in range(rng.choice([0, 20, 200, 1500])):
        x, y, r = rng.randrange(brush.width), rng.randrange(brush.height), rng.uniform(0.3, 2.5)
        pen.ellipse((x - r, y - r, x + r, y + r), fill=(rng.randint(0, 160),) * 3)
    for _ in range(rng.choice([0, 0, 2, 6])):
        x = rng.randrange(brush.width)
        pen.line((x, 0, x + rng.randint(-6, 6), brush.height), fill=(190, 190, 190))
    for share in rng.choice([(), (0.25, 0.75), (0.1, 0.4, 0.6, 0.9)]):
        hole = share * brush.height
        pen.ellipse((24, hole - 16, 56, hole + 16), fill=(70, 70, 70))
    pixels = np.asarray(image).astype(np.float64)
    for side in range(4):
        depth, dark = rng.choice([0, 15, 60, 200]), rng.uniform(20, 200)
        shadow = dark * np.exp(-np.arange(pixels.shape[1 if side % 2 else 0]) / (depth or 1))
        if depth:
            shadow = shadow if side < 2 else shadow[::-1]
            pixels -= shadow[None, :, None] if side % 2 else shadow[:, None, None]
    pixels += brush.numbers.normal(0, rng.uniform(0, 12), pixels.shape[:2])[..., None]
    if rng.random() < 0.3:
        stain = brush.clouds(3)
        pixels -= (40 * (stain > np.quantile(stain, 0.9)))[..., None]
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def noise(brush: Brush) -> Image.Image:
    """Grain, coarse grain, or black and white pixels."""
    grain = brush.numbers.normal(size=(brush.height, brush.width))
    kind = brush.rng.randrange(3)
    if kind == 1:
        image = brush.picture(grain)
        return image.filter(ImageFilter.GaussianBlur(brush.rng.uniform(0.8, 6)))
    return brush.picture((grain > brush.rng.uniform(0, 2.5)).astype(float) if kind else grain)


def landscape(brush: Brush) -> Image.Image:
    """Ridges of fractal hills under a sky."""
    rng = brush.rng
    pixels = np.asarray(brush.picture(brush.clouds(rng.uniform(1.5, 2.5)))).astype(np.float64)
    rows = np.arange(brush.height)[:, None]
    texture = brush.clouds(rng.uniform(0.6, 1.4))
    for ridge in range(rng.randint(1, 4)):
        walk = np.cumsum(brush.numbers.normal(0, rng.uniform(0.5, 3), brush.width))
        below = rows > brush.height * (0.35 + 0.17 * ridge) + walk
        rock = np.array(brush.colour()) + 40 * (texture / texture.std())[..., None]
        pixels = np.where(below[..., None], rock, pixels)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def texture(brush: Brush) -> Image.Image:
    """Fractal noise, wood, weave, brick, foliage or ripples."""
    rng = brush.rng
    y, x = np.mgrid[: brush.height, : brush.width].astype(np.float64)
    rough = brush.clouds(rng.uniform(0.5, 2.5))
    rough /= rough.std()
    step = rng.uniform(8, 60)
    fields = [
        lambda: rough,
        lambda: np.sin(x / step + 2 * rough),
        lambda: np.sin(x / step) * np.sin(y / step) + 0.4 * rough,
        lambda: ((y % step < 3) | ((x + step * (y // step % 2)) % (2 * step) < 3)) + 0.1 * rough,
        lambda: (rough > 0.5) + 0.3 * (brush.clouds(1) > 0),
        lambda: np.sin(np.hypot(x - brush.width / 3, y - brush.height / 2) / step) + 0.2 * rough,
    ]
    return brush.picture(rng.choice(fields)())


def gradient(brush: Brush) -> Image.Image:
    y, x = np.mgrid[: brush.height, : brush.width].astype(np.float64)
    angle = brush.rng.uniform(0, np.pi)
    field = x * np.cos(angle) + y * np.sin(angle)
    return brush.picture(field % brush.rng.choice([1e9, 200, 700]))


def shapes(brush: Brush) -> Image.Image:
    """Discs, boxes and polygons in any colours, sharp or out of focus."""
    image = brush.paper(brush.colour())
    pen = ImageDraw.Draw(image)
    for _ in range(brush.rng.randint(3, 60)):
        box = brush.box(10, 500)
        draw = brush.rng.choice([pen.ellipse, pen.rectangle])
        if brush.rng.random() < 0.7:
            draw(box, fill=brush.colour())
        else:
            points = [(brush.rng.uniform(box[0], box[2]), brush.rng.uniform(box[1], box[3]))
                      for _ in range(brush.rng.randint(3, 7))]  # fmt: skip
            pen.polygon(points, fill=brush.colour())
    return image.filter(ImageFilter.GaussianBlur(brush.rng.choice([0, 0, 2, 8])))


def lines(brush: Brush) -> Image.Image:
    """Forms that nobody filled in: rules, grids, frames, bare charts, scribbled curves."""
    rng = brush.rng
    image = brush.paper((255, 255, 255))
    pen = ImageDraw.Draw(image)
    kind = rng.randrange(5)
    ink = (rng.randint(0, 150),) * 3
    wide = rng.randint(1, 5)
    step = rng.randint(24, 90)
    left, top, right, bottom = 80, 90, brush.width - 80, brush.height - 90
    if kind in (0, 1):
        for y in range(top, bottom, step):
            pen.line((left, y, right, y), fill=ink, width=wide)
    if kind == 1:
        for x in range(left, right, step * rng.randint(1, 3)):
            pen.line((x, top, x, bottom), fill=ink, width=wide)
    if kind == 2:
        for _ in range(rng.randint(1, 25)):
            pen.rectangle(brush.box(20, 300), outline=ink, width=wide)
    if kind == 3:
        pen.line([(left, top), (left, bottom), (right, bottom)], fill=ink, width=wide)
        for x in range(left + step, right - step, 2 * step):
            pen.rectangle((x, rng.randint(top, bottom), x + step, bottom), fill=brush.colour())
    if kind == 4:
        for _ in range(rng.randint(1, 12)):
            points = [brush.box(0, 1)[:2] for _ in range(rng.randint(2, 9))]
            pen.line(points, fill=ink, width=wide, joint="curve")
    return image


KINDS: dict[str, Callable[[Brush], Image.Image]] = {
    each.__name__: each
    for each in (sheet, scan, noise, landscape, texture, gradient, shapes, lines)
}


def blank_page(number: int, folder: Path) -> Path:
    """The page of this number, as a file in ``folder``; kinds take turns."""
    kind = list(KINDS)[number % len(KINDS)]
    suffix = SUFFIXES[number // len(KINDS) % len(SUFFIXES)]
    path = folder / f"{number:03d}-{kind}{suffix}"
    image = KINDS[kind](Brush(f"{kind} {number}"))
    image.save(path, quality=60 + number % 30, resolution=150)
    return path


def invented(document: Document) -> list[str]:
    """Text that was read, and regions that are no figures, each with its kind."""
    return [
        f"{region.kind}: {region.text!r}"
        for page in document.pages
        for region in page.regions
        if region.text.strip() or region.kind != "figure"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--target", default="none")
    parser.add_argument("--keep", type=Path, help="folder for the pages on which text was read")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.pages):
            path = blank_page(number, Path(folder))
            kind = path.stem.split("-")[1]
            found = invented(parse(path, target=arguments.target))
            counts[kind] += 1
            wrong[kind] += bool(found)
            if found:
                print(path.name, *found, sep="\n    ", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / path.name).write_bytes(path.read_bytes())
            path.unlink()
    for kind, count in counts.items():
        print(f"{kind}: text on {wrong[kind]} of {count} pages")
    print(f"text on {wrong.total()} of {counts.total()} pages, target {arguments.target}")


if __name__ == "__main__":
    main()
