"""A point through all stages, and many of them on several processes."""

from rtoslab.measure.duration_estimate import DurationEstimate, estimate_duration
from rtoslab.measure.evaluation import decode_and_judge_output, gather_proof_evidence
from rtoslab.measure.identity import identity_of_point
from rtoslab.measure.own_image import measure_user_elf_image
from rtoslab.measure.pair_images import build_pair_images
from rtoslab.measure.pipeline import MeasurementPointOutcome, MeasureOptions, Runner, measure_and_store_point
from rtoslab.measure.point_result import result_fields_from_image
from rtoslab.measure.pool import Listener, MeasurementPointProgress, measure_points_of_plan, picklable_error
from rtoslab.measure.virtual_job import make_virtual_benchmark_job
