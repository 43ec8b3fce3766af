"""The layout pipeline: a page becomes a draft of its regions in a fraction of a second."""

from __future__ import annotations

from hsd_docparse.draft.debug_layout import draw_layout, to_layout
from hsd_docparse.draft.pipeline import draft_page, upright_picture

__all__ = ["draft_page", "draw_layout", "to_layout", "upright_picture"]
