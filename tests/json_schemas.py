"""The published shapes of --json (docs/reference/schemas): what every document that a test reads is held against.

Programs may meet fields that are not there yet, so the published schemas allow them; here they are refused, so that a
field cannot appear without being published.
"""

import functools
import json
import pathlib

import jsonschema
import referencing

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs/reference/schemas"
GROUPS = ("env", "checks", "backfill")
# They print how far the campaign is.
WITH_STATUS = ("start", "resume", "pause", "cancel", "publish", "revert", "discard")
# Their documents carry `error` beside a result.
WITH_RESULT = ("apply", "run", "restate")


def closed(schema):
    """The schema with no room for unpublished fields."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "required" in schema:
        result.setdefault("additionalProperties", False)
    return result


@functools.cache
def registry():
    resources = [
        (path.name, referencing.Resource.from_contents(closed(json.loads(path.read_text(encoding="utf-8")))))
        for path in FOLDER.glob("*.json")
    ]
    return referencing.Registry().with_resources(resources)


@functools.cache
def validator(name):
    return jsonschema.Draft202012Validator({"$ref": f"{name}.json"}, registry=registry())


def schema_name(args):
    words = [str(word) for word in args]
    if words[0] == "backfill" and words[1] in WITH_STATUS:
        return "backfill-status"
    if words[0] in ("run", "restate") and "--audit" in words:
        return "backfill-plan" if "--dry-run" in words else "backfill-status"
    return "-".join(words[:2] if words[0] in GROUPS else words[:1])


def check(args, document):
    """Fails when what `interlace ARGS --json` printed is not what is published."""
    name = schema_name(args)
    is_failure = isinstance(document, dict) and ("error" in document or "errors" in document)
    is_failure = is_failure and "state" not in document
    if is_failure and (name not in WITH_RESULT or "environment" not in document):
        name = "error"
    if name == "apply" and "--dry-run" in args and not is_failure:
        name = "plan"
    problems = sorted(validator(name).iter_errors(document), key=lambda error: error.json_path)
    assert not problems, "\n".join(f"{name}.json: {error.json_path}: {error.message[:600]}" for error in problems[:5])
