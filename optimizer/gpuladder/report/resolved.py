"""The scenario as it was solved, written as YAML: overrides laid in, one line per row.

Every value is written as JSON, which YAML 1.2 reads as it stands: no quoting rules to get wrong,
and a demand series of many thousand rows takes milliseconds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpuladder.scenario.fingerprint import canonical

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario


def resolved_yaml(scenario: Scenario) -> str:
    """Return the scenario as a YAML file that loads to the same scenario; defaults left out."""
    lines = ["# The scenario as it was solved. Values left out have their defaults."]
    for key, value in canonical(scenario).items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{key}:")
            lines += [f"  - {_json(item)}" for item in value]
        else:
            lines.append(f"{key}: {_json(value)}")
    return "\n".join(lines) + "\n"


def _json(value: Any) -> str:
    # A scenario's texts are printable, so nothing in them ends a line in YAML but not in JSON.
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
