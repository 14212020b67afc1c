"""A project of anybody's: its own images, measured, held against budgets and against figures kept in its repository.

`project_file` says what rtoslab.toml holds, `building` runs the project's build in each placement, `measuring` makes
figures, `budgets` holds them against what is allowed at most, `project_baseline` keeps them as a baseline, `judging`
compares, `summary` says what was found.
"""

from rtoslab.project.budgets import interval_over_budget, over_budget
from rtoslab.project.building import build_image
from rtoslab.project.judging import NOTHING_MEASURED, ProjectJudgement, judge_project, project_sentence
from rtoslab.project.measuring import figures_of, find_function, project_subject
from rtoslab.project.project_baseline import read_project_baseline, write_project_baseline
from rtoslab.project.project_file import Project, read_project
from rtoslab.project.summary import as_markdown, change_table, judgement_as_json, judgement_as_junit, regression_table
