"""What must be proved before a number counts: the rules, the evidence they look at, and how they are judged."""

from rtoslab.proofs.evidence import Evidence
from rtoslab.proofs.judge import judge_all, watched_services
