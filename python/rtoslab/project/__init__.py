"""Measures a user's project: its own images, compared with budgets and with figures stored in its repository.

`project_file` reads rtoslab.toml, `building` runs the project's build in each placement, `measuring` makes figures,
`budgets` compares them with their limits, `project_baseline` stores them as a baseline, `judging` compares both,
`summary` formats the result."""

from rtoslab.project.budgets import exceeded_budgets, exceeded_interval_budget
from rtoslab.project.building import build_project_image
from rtoslab.project.judging import (
    NOTHING_MEASURED,
    ProjectRegressionGateResult,
    judge_project_against_baseline,
    project_result_sentences,
)
from rtoslab.project.measuring import find_measured_function, measure_project, project_image_run_to_observe
from rtoslab.project.project_baseline import read_project_baseline, write_project_baseline
from rtoslab.project.project_file import Project, ProjectDiagnosisLimits, read_project
from rtoslab.project.summary import (
    changes_not_exceeding_limits_table,
    judgement_as_json,
    judgement_as_junit,
    judgement_as_markdown,
    performance_regression_table,
)
