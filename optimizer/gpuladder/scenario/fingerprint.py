"""The canonical form of a scenario, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from gpuladder.scenario.schema import Scenario
from gpuladder.timegrid import Span


def canonical(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario as plain values, defaults left out: the same for all three forms."""
    content: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return content


def fingerprint(scenario: Scenario) -> str:
    """Return the SHA-256 of the scenario's canonical JSON, in hexadecimal.

    It depends on what the scenario says, not on how it is written: not on the form, on comments, on
    the order of keys, nor on whether a default is spelt out.
    """
    text = json.dumps(canonical(scenario), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class _Schema(GenerateJsonSchema):
    """Writes defaults as a scenario writes them: spans as text."""

    def encode_default(self, dft: Any) -> Any:
        """Return a default as plain JSON."""
        return str(dft) if isinstance(dft, Span) else super().encode_default(dft)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a scenario file, for editors."""
    content = Scenario.model_json_schema(by_alias=True, schema_generator=_Schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **content}
