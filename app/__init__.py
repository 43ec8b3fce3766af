"""The page in the browser (`docparse ui`): upload, watch, look, download."""

from __future__ import annotations

from hsd_docparse.app.page import launch

__all__ = ["launch"]
