"""The proofs that a number needs: the rules, the evidence they look at, and how they are judged."""

from rtoslab.proofs.evidence import Evidence
from rtoslab.proofs.judge import judge_all, services_to_watch
