"""What a client of the service sends: one file, and fields that say how to read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

import anyio
from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from hsd_docparse.convert import Mode, Settings
from hsd_docparse.export import Outputs
from hsd_docparse.jobs import Jobs, TooLargeError
from hsd_docparse.render import FORMATS

STALLED = 60.0
"""Seconds without a byte after which an upload is given up."""
OVERHEAD = 64 << 10
"""Bytes that a request may have beside its file."""
LONGEST = 4 << 10
"""Bytes of a field."""

_FORMAT = f"({'|'.join(FORMATS)})"
_RANGE = "[0-9]{1,9}(-[0-9]{0,9})?"


class Fields(BaseModel):
    """How to read a document; `fields_model` says which targets there are."""

    model_config = ConfigDict(extra="forbid")

    formats: str = Field(
        "md", pattern=f"^{_FORMAT}(,{_FORMAT})*$", description="What to write, such as md,json."
    )
    mode: Mode
    target: str
    pages: str = Field(
        "", pattern=f"^({_RANGE}(,{_RANGE})*)?$", description="Such as 1-3,7 or 5-; all by default."
    )
    password: str = Field("", max_length=200, description="Opens an encrypted document.")
    dpi: float = Field(ge=36, le=600, allow_inf_nan=False)
    figures: Literal["true", "false"] = Field(
        "false", description="Whether to put figures into the archive, and link them."
    )

    def settings(self, defaults: Settings) -> Settings:
        return replace(
            defaults,
            target=self.target if self.target == "none" else defaults.target,
            mode=self.mode,
            pages=self.pages or None,
            password=self.password or None,
            dpi=self.dpi,
        )

    @property
    def outputs(self) -> Outputs:
        return Outputs(tuple(dict.fromkeys(self.formats.split(","))), self.figures == "true")


def target_name(settings: Settings) -> str:
    target = settings.target
    return target if isinstance(target, str) else target.name


def fields_model(defaults: Settings) -> type[Fields]:
    """The fields of a server that offers the target of ``defaults``, and none: a stranger must
    not have it load any other."""
    target = target_name(defaults)
    targets: Any = Literal[target, "none"]  # type: ignore[valid-type]
    return create_model(
        "Fields",
        __base__=Fields,
        mode=(Mode, defaults.mode),
        target=(targets, target),
        dpi=(float, Field(defaults.dpi, ge=36, le=600, allow_inf_nan=False)),
    )


def body_schema(fields: type[Fields]) -> dict[str, Any]:
    """The form of an upload as OpenAPI describes it."""
    schema = fields.model_json_schema()
    schema["properties"] = {
        "file": {"type": "string", "format": "binary", "description": "A PDF or an image."},
        **schema["properties"],
    }
    schema["required"] = ["file"]
    return {"required": True, "content": {"multipart/form-data": {"schema": schema}}}


@asynccontextmanager
async def receiving(request: Request, jobs: Jobs) -> AsyncIterator[FormData]:
    """The form that ``request`` carries. What is too large for ``jobs`` is refused when the first
    byte too many comes, and what comes in takes a place of theirs. Raises `HTTPException` and
    `RefusedError`."""
    most = jobs.limits.bytes + OVERHEAD
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:18]) > most:
        raise _too_large(jobs)
    limited = Request(request.scope, _limited(request.receive, most, _too_large(jobs)))
    with jobs.place():
        try:
            form = await limited.form(max_files=1, max_fields=20, max_part_size=LONGEST)
        except (FormParserError, UnicodeError) as error:
            raise HTTPException(400, "The form cannot be read.") from error
        except ClientDisconnect:
            raise HTTPException(400, "The upload broke off.") from None
    try:
        yield form
    finally:
        await form.close()


def read_fields(form: FormData, model: type[Fields]) -> tuple[UploadFile, Fields]:
    """The file and the fields of ``form``. Raises `HTTPException`."""
    texts = dict(form)
    file = texts.pop("file", None)
    if not isinstance(file, UploadFile):
        raise HTTPException(422, "file: a document is missing; send it as multipart/form-data.")
    try:
        return file, model.model_validate(texts)
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise HTTPException(422, "; ".join(wrong)) from None


def _too_large(jobs: Jobs) -> TooLargeError:
    return TooLargeError(f"The upload is larger than {jobs.limits.bytes} bytes.")


def _limited(receive: Receive, most: int, error: Exception) -> Receive:
    """``receive`` that raises ``error`` once more than ``most`` bytes came."""
    left = most

    async def limited() -> Message:
        nonlocal left
        try:
            with anyio.fail_after(STALLED):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"Nothing came for {STALLED:g} seconds.") from None
        left -= len(message.get("body", b""))
        if left < 0:
            raise error
        return message

    return limited
