"""The application: its calls, who may make them, and its errors in one shape."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBasic, HTTPBasicCredentials
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Match, Route

from hsd_docparse import __version__
from hsd_docparse.convert import Settings
from hsd_docparse.jobs import FullError, Jobs, TooLargeError, TooManyError
from hsd_docparse.service.answers import FAILURES, failures
from hsd_docparse.service.routes import health, router, submit
from hsd_docparse.service.upload import body_schema, fields_model

BASIC = HTTPBasic(realm="docparse")


def create_app(
    jobs: Jobs,
    defaults: Settings | None = None,
    *,
    auth: tuple[str, str] | None = None,
    hosts: Sequence[str] | None = None,
) -> FastAPI:
    """The application that serves ``jobs``, which are the caller's to close.

    ``defaults`` hold where a request says nothing else; their target is the only one that it may
    ask for. ``auth``: the user and the password that are asked for, ASCII;
    ``hosts``: the names by which the server may be called, any by default.
    """
    app = FastAPI(
        title="docparse",
        version=__version__,
        description="PDFs, scans and photos become Markdown, HTML, JSON or text.",
        docs_url=None,  # it would load its scripts from elsewhere
        redoc_url=None,
    )
    app.state.jobs = jobs
    app.state.defaults = defaults or Settings()
    app.state.fields = fields_model(app.state.defaults)
    guarded = APIRouter(
        dependencies=[Depends(_login(*auth))] if auth else [],
        responses=failures(401) if auth else {},
    )
    guarded.add_api_route(
        "/jobs",
        submit,
        methods=["POST"],
        status_code=202,
        dependencies=[Depends(_from_no_other_site)],
        responses=failures(400, 403, 408, 413, 422, 429, 507),
        openapi_extra={"requestBody": body_schema(app.state.fields)},
    )
    guarded.include_router(router)
    app.include_router(guarded)
    app.add_api_route("/health", health, methods=["GET"])
    app.add_exception_handler(AnyHTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(TooLargeError, _too_large)
    app.add_exception_handler(TooManyError, _too_many)
    app.add_exception_handler(FullError, _full)
    app.add_exception_handler(Exception, _unexpected)
    if hosts is not None:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    return app


def _login(user: str, password: str) -> Callable[[HTTPBasicCredentials], Awaitable[None]]:
    """A dependency that lets in who knows both."""

    async def check(given: Annotated[HTTPBasicCredentials, Depends(BASIC)]) -> None:
        # Both are compared, and in constant time: how long it takes tells nothing.
        same_user = secrets.compare_digest(given.username.encode(), user.encode())
        same_password = secrets.compare_digest(given.password.encode(), password.encode())
        if not (same_user and same_password):
            raise HTTPException(401, FAILURES[401], BASIC.make_authenticate_headers())

    return check


async def _from_no_other_site(request: Request) -> None:
    """Any page may send a form anywhere, but the browser says so."""
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise HTTPException(403, FAILURES[403])


def _failure(
    request: Request, code: int, error: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    # An upload that was refused may still be on its way; nobody is going to read it.
    close = {"Connection": "close"} if request.method == "POST" else {}
    return JSONResponse({"error": error}, code, {**close, **(headers or {})})


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, AnyHTTPException)
    headers = error.headers
    if error.status_code == 405 and (methods := _methods(request)):
        headers = {"Allow": ", ".join(sorted(methods))}
    return _failure(request, error.status_code, error.detail, headers)


def _methods(request: Request) -> set[str]:
    """All that may be done with the path of ``request``; Starlette names those of one route."""
    return {
        method
        for route in router.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }


async def _invalid(request: Request, error: Exception) -> Response:
    return _failure(request, 422, FAILURES[422])


async def _too_large(request: Request, error: Exception) -> Response:
    return _failure(request, 413, str(error))


async def _too_many(request: Request, error: Exception) -> Response:
    return _failure(request, 429, str(error), {"Retry-After": "30"})


async def _full(request: Request, error: Exception) -> Response:
    return _failure(request, 507, str(error), {"Retry-After": "600"})


async def _unexpected(request: Request, error: Exception) -> Response:
    return _failure(
        request, 500, f"Unexpected {type(error).__name__}; the log of the server says more."
    )
