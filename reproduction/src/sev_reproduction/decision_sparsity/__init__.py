"""The follow-up paper, "Improving Decision Sparsity" (NeurIPS 2024), computed with this library.

Its variants of SEV are a choice of references and values here: one reference, clusters, a band around the reference
("flexible"), both, and free values on single trees. Each is exact, with and without a limit on credibility. Where the
authors' way is reproduced to compare, it is named as theirs. On the command line: ``sev reproduce decision-sparsity``.
"""

from sev_reproduction.decision_sparsity._run import follow_up_plan, reproduce_follow_up

__all__ = ["follow_up_plan", "reproduce_follow_up"]
