"""Controllers: how much to propose."""

from hsd_docparse.speculative.controllers.cost_model import CostModel
from hsd_docparse.speculative.controllers.doubling import Doubling
from hsd_docparse.speculative.controllers.entropy_stop import EntropyStop
from hsd_docparse.speculative.controllers.fixed import Fixed
from hsd_docparse.speculative.controllers.rejection_threshold import RejectionThreshold

__all__ = ["CostModel", "Doubling", "EntropyStop", "Fixed", "RejectionThreshold"]
