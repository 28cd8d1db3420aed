"""All database tables, one module a subject. Rows have natural keys, so that writing the same fact
twice gives one row."""

from infra.tables import board, findings, intake, operations, standing, study
from infra.tables.catalogue import Judge, Metric, Sample, Suite
from infra.tables.columns import UtcTime, json_column, now, text_column, time_column
from infra.tables.curation import CurationCall, Draft
from infra.tables.results import Cell, Output, Reply, Score, Shard, Verdict
from infra.tables.submissions import Event, Run, Submission
from infra.tables.teams import QuotaUse, RateCount, Team, Token, TokenRequest, Upload

__all__ = [
    "Cell",
    "CurationCall",
    "Draft",
    "Event",
    "Judge",
    "Metric",
    "Output",
    "QuotaUse",
    "RateCount",
    "Reply",
    "Run",
    "Sample",
    "Score",
    "Shard",
    "Submission",
    "Suite",
    "Team",
    "Token",
    "TokenRequest",
    "Upload",
    "UtcTime",
    "Verdict",
    "board",
    "findings",
    "intake",
    "json_column",
    "now",
    "operations",
    "standing",
    "study",
    "text_column",
    "time_column",
]
