"""docparse over HTTP: documents are uploaded, converted in turn, and their results fetched.

``docparse serve`` runs it; docs/service.md is its manual.
"""

from __future__ import annotations

from hsd_docparse.service.app import create_app

__all__ = ["create_app"]
