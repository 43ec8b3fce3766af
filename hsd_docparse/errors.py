"""What can go wrong, in one sentence each. The command line maps these to exit codes."""

from __future__ import annotations

from pathlib import Path


class DocparseError(Exception):
    """Base of every error that docparse raises on purpose; ``str(error)`` is for the user."""


class InputError(DocparseError):
    """The input is missing, empty, of an unknown type or damaged beyond reading."""


class PasswordError(InputError):
    """The document is encrypted and no, or a wrong, password was given."""


class PageError(DocparseError):
    """One page could not be read; the rest of the document is unaffected."""


class TargetError(DocparseError):
    """A target could not be opened or could not read a page."""


class StateError(DocparseError):
    """A folder job cannot use what its output folder holds."""


def sentence(path: Path, error: Exception) -> str:
    """What ``error`` says about the file ``path``, for the user."""
    if isinstance(error, DocparseError):
        message = str(error)
        return message if str(path) in message else f"{path}: {message}"
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror or error}."
    kind = type(error).__name__
    return f"{path} could not be converted: unexpected {kind} ({error}); --debug shows where."
