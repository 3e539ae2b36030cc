"""Datasets of the platform that are not tables: resources of external systems, and directories of files."""

from pathlib import Path

from lineproof.producers import dataset_names
from lineproof.producers.pipelines.data import Dataset

BENEVITY_HOURS = Dataset(
    dataset_names.http_api("benevity.api", "volunteer_hours"),
    {
        "id": ("string", "identifier"),
        "company": ("string", "company"),
        "volunteer_email": ("string", "address of the volunteer"),
        "activity": ("string", "what was done"),
        "hours": ("number", "time given"),
        "date": ("string", "day of the activity"),
        "status": ("string", "PENDING until the company approves"),
    },
    *("an activity of a volunteer", ("id",), "benevity", "https://benevity.example.com/api"),
)
GOODERA_EVENTS = Dataset(
    dataset_names.http_api("goodera.api", "volunteering_events"),
    {
        "eventId": ("string", "identifier"),
        "organisation": ("string", "company, in capitals"),
        "participant": {"email": ("string", "address of the volunteer")},
        "eventType": ("string", "what was done"),
        "minutes": ("integer", "time given"),
        "on": ("string", "day of the activity"),
        "cancelled": ("boolean", "whether it did not take place"),
    },
    *("an activity of a volunteer", ("eventId",), "goodera", "https://goodera.example.com/api"),
)
WORKDAY_EVENTS = Dataset(
    dataset_names.http_api("workday.api", "worker_events"),
    {
        "Reference_ID": ("string", "identifier"),
        "Company_Reference": ("string", "company"),
        "Worker_Email": ("string", "address of the worker"),
        "Event_Type": ("string", "kind of event"),
        "Duration_Hours": ("string", "duration, as a decimal"),
        "Event_Date": ("string", "day of the event"),
        "Draft": ("boolean", "whether it is not final"),
    },
    *("an event of a worker", ("Reference_ID",), "workday", "https://workday.example.com/api"),
)


def feedback_exports(directory: Path) -> Dataset:
    """The export files of the survey tool."""
    columns = {name: ("string", f"{name} of the answer") for name in ("id", "company", "email", "text", "submitted")}
    schema = {**columns, "rating": ("integer", "1 to 5")}
    return Dataset(dataset_names.file(directory), schema, "an answer to a survey", ("id",), "survey-tool")


def reports(directory: Path) -> Dataset:
    """The reports: one JSON file each."""
    schema = {
        "report_id": ("string", "company and quarter"),
        "company_id": ("string", "company"),
        "period": ("string", "quarter"),
        "figures": ("object", "the metrics of the quarter"),
        "evidence": ("array", "quotations with their confidence"),
    }
    return Dataset(dataset_names.file(directory), schema, "a company's quarter", ("report_id",), "team-reporting")


def pdf_reports(directory: Path) -> Dataset:
    """The printable reports: one PDF each."""
    schema = {"report_id": ("string", "company and quarter"), "document": ("binary", "PDF")}
    return Dataset(dataset_names.file(directory), schema, "a company's quarter", ("report_id",), "team-reporting")
