"""Drafters: what may come next."""

from hsd_docparse.speculative.drafters.ahead import Ahead
from hsd_docparse.speculative.drafters.aligned_text import AlignedText
from hsd_docparse.speculative.drafters.copyspec import CopySpec
from hsd_docparse.speculative.drafters.model import ModelDrafter
from hsd_docparse.speculative.drafters.no_draft import NoDraft
from hsd_docparse.speculative.drafters.pool import Pool
from hsd_docparse.speculative.drafters.prompt_lookup import PromptLookup
from hsd_docparse.speculative.drafters.suffix_decoding import SuffixDecoding, SuffixTree
from hsd_docparse.speculative.drafters.weighed_text import Resume, WeighedText

__all__ = [
    "Ahead", "AlignedText", "CopySpec", "ModelDrafter", "NoDraft", "Pool", "PromptLookup", "Resume",
    "SuffixDecoding", "SuffixTree", "WeighedText",
]  # fmt: skip
