"""Measure everything and write ``reports/benchmarks.md``; see README.md for how to read it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.jobs import import_aims, import_lines, measure_import
from benchmarks.synthetic import LARGE, MEDIUM, write_scenario

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "reports" / "benchmarks.md"
REPEATS = 3
LARGEST = "synthetic-300k"
WAYS = {
    "own": "gpuladder: build, compile, pass",
    "raw": "raw: the finished matrix from numpy to highspy",
    "contrib": "Pyomo `contrib.solver` HiGHS: build, `set_instance`",
    "appsi": "Pyomo `appsi_highs`: build, `set_instance`",
}
STAGES = ("start", "load", "build", "solve", "analyse", "report")


def measure(*arguments: str | Path) -> dict[str, Any]:
    """Run one measurement in a process of its own and return what it prints."""
    command = [sys.executable, "-m", "benchmarks.measure", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def medians(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one answer whose numbers are the medians of several."""
    first = answers[0]
    numbers = {
        key: median(answer[key] for answer in answers)
        for key, value in first.items()
        if isinstance(value, float)
    }
    seconds = {
        stage: median(answer["seconds"][stage] for answer in answers) for stage in first["seconds"]
    }
    return {**first, **numbers, "seconds": seconds}


def hand_over(scenario: Path, work: Path) -> dict[str, Any]:
    """Measure the ways from arrays to a loaded solver in turn: a slow minute hits them all."""
    arrays = work / "arrays.pickle"
    size = measure("prepare", scenario, arrays)
    answers: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    for _ in range(REPEATS):
        for way in WAYS:
            answers[way].append(measure("hand-over", way, arrays))
    held = {tuple(answer["holds"]) for runs in answers.values() for answer in runs}
    if held != {(size["rows"], size["nonzeros"])}:
        msg = f"the ways do not hold the same program: {held}"
        raise SystemExit(msg)
    return {"size": size, "ways": {way: medians(runs) for way, runs in answers.items()}}


def end_to_end(scenario: Path, work: Path, repeats: int) -> dict[str, Any]:
    """Measure whole runs of a scenario."""
    return medians([measure("end-to-end", scenario, work / "runs") for _ in range(repeats)])


def help_seconds() -> float:
    """Return the CPU seconds of ``gpuladder --help``, the median of several runs."""
    spent = []
    for _ in range(2 * REPEATS + 1):
        before = _children()
        subprocess.run(
            [sys.executable, "-m", "gpuladder", "--help"], stdout=subprocess.DEVNULL, check=True
        )
        spent.append(_children() - before)
    return median(spent)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def total(answer: dict[str, Any]) -> float:
    """Return the seconds of all stages of a measurement."""
    return float(sum(answer["seconds"].values()))


def hand_over_lines(title: str, measured: dict[str, Any]) -> list[str]:
    """Return the section of one program."""
    size, ways = measured["size"], measured["ways"]
    own = total(ways["own"])
    heading = (
        f"### {title}: {size['variables']:,} variables ({size['integers']:,} whole), "
        f"{size['rows']:,} rows, {size['nonzeros']:,} coefficients"
    )
    lines = [
        heading,
        "",
        "| way | CPU s | gpuladder = 1 | memory added, MB | peak memory, MB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for way, name in WAYS.items():
        answer = ways[way]
        spent = total(answer)
        lines.append(
            f"| {name} | {spent:.3f} | {spent / own:.3f} | {answer['added_mb']:,.0f} "
            f"| {answer['peak_mb']:,.0f} |"
        )
    parts = ", ".join(f"{name} {value:.3f}" for name, value in ways["own"]["seconds"].items())
    faster, slower = ratios(measured)
    translate = size["seconds"]["translate"]
    return [
        *lines,
        "",
        f"{faster:.1f} times faster than Pyomo's own, {slower:.1f} times the raw one.",
        f"Parts: {parts}; before that, scenario to arrays: {translate:.3f}.",
    ]


def ratios(measured: dict[str, Any]) -> tuple[float, float]:
    """Return how much faster than the better of Pyomo's interfaces, and how many times the raw."""
    spent = {way: total(answer) for way, answer in measured["ways"].items()}
    return min(spent["contrib"], spent["appsi"]) / spent["own"], spent["own"] / spent["raw"]


def end_to_end_lines(runs: dict[str, dict[str, Any]]) -> list[str]:
    """Return the table of whole runs."""
    lines = [
        f"| scenario | status | CPU s | {' | '.join(STAGES)} | peak memory, MB |",
        f"| --- | --- | ---: |{' ---: |' * len(STAGES)} ---: |",
    ]
    for name, run in runs.items():
        shares = " | ".join(f"{run['seconds'][stage] / run['total']:.1%}" for stage in STAGES)
        gap = "" if run["gap"] is None else f", gap {run['gap']:.2%}"
        lines.append(
            f"| {name} | {run['status']}{gap} | {run['total']:.2f} | {shares} "
            f"| {run['peak_mb']:,.0f} |"
        )
    return lines


def aims(
    programs: dict[str, dict[str, Any]], runs: dict[str, dict[str, Any]], asked_help: float
) -> list[tuple[str, str, bool]]:
    """Return what is aimed at, what was measured, and whether it is met."""
    found = []
    for name, measured in programs.items():
        faster, slower = ratios(measured)
        found += [
            (
                f"{name}: hand-over at least 5 times faster than Pyomo's own",
                f"{faster:.1f}",
                faster >= 5,
            ),
            (f"{name}: hand-over at most 25 times the raw one", f"{slower:.1f}", slower <= 25),
        ]
    year = runs["training-year"]
    share = year["seconds"]["report"] / year["total"]
    return [
        *found,
        ("training-year: report files under 20 % of the run", f"{share:.1%}", share < 0.2),
        ("`gpuladder --help` under 0.3 s of CPU", f"{asked_help:.2f} s", asked_help < 0.3),
    ]


def machine() -> list[str]:
    """Return what was measured, on what."""
    packages = ("gpuladder", "pyomo", "highspy", "numpy", "pydantic", "XlsxWriter")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    cores = f"{os.cpu_count()} cores"
    return [
        f"- {datetime.now(UTC):%Y-%m-%d}, {_processor()}, {cores}, {platform.system()}",
        f"- Python {platform.python_version()}, {versions}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> int:
    """Measure, write the page, and return 0 when every aim is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"no whole run of {LARGEST}")
    parser.add_argument("--output", type=Path, default=TARGET, help="page to write")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        synthetic = {
            "synthetic-50k": write_scenario(work / "synthetic-50k", MEDIUM),
            LARGEST: write_scenario(work / LARGEST, LARGE),
        }
        programs = {}
        for name, path in synthetic.items():
            _tell(f"hand-over of {name}")
            programs[name] = hand_over(path, work)
        scenarios = {
            "quickstart": ROOT / "scenarios" / "quickstart.yaml",
            "training-year": ROOT / "scenarios" / "training-year",
            **synthetic,
        }
        if arguments.quick:
            del scenarios[LARGEST]
        runs = {}
        for name, path in scenarios.items():
            _tell(f"whole run of {name}")
            runs[name] = end_to_end(path, work, 1 if name == LARGEST else REPEATS)
        _tell("re-solves and answers of training-year")
        year = scenarios["training-year"]
        again = {"re-solves": measure("re-solves", year), "answers": measure("answers", year)}
        _tell("import of jobs")
        jobs = measure_import(measure, work)
        found = [
            *aims(programs, runs, help_seconds()),
            *again_aims(again),
            *import_aims(jobs),
        ]
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    lines = page(programs, runs, again, jobs, found)
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _tell(f"wrote {arguments.output}")
    return 0 if all(met for _, _, met in found) else 1


def page(
    programs: dict[str, dict[str, Any]],
    runs: dict[str, dict[str, Any]],
    again: dict[str, dict[str, Any]],
    jobs: dict[int, dict[str, Any]],
    found: list[tuple[str, str, bool]],
) -> list[str]:
    """Return the lines of the page."""
    sections = [
        line for name, item in programs.items() for line in ["", *hand_over_lines(name, item)]
    ]
    return [
        "# Benchmarks",
        "",
        "Written by `make bench`; how to read it: [benchmarks/README.md](../benchmarks/README.md).",
        "",
        *machine(),
        "",
        "| aim | measured | |",
        "| --- | ---: | --- |",
        *(f"| {aim} | {value} | {'met' if met else '**missed**'} |" for aim, value, met in found),
        "",
        "## Build and hand-over",
        *sections,
        "",
        "## Whole runs: shares of CPU time",
        "",
        *end_to_end_lines(runs),
        "",
        "## Re-solves and answers beside the plan (training-year)",
        "",
        *again_lines(again),
        "",
        "## Import of jobs",
        "",
        *import_lines(jobs),
    ]


def again_aims(again: dict[str, dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """Return the aims of re-solving."""
    spent, asked = again["re-solves"]["seconds"], again["answers"]["seconds"]
    ratio, share = spent["cold"] / spent["warm"], asked["analyse"] / asked["solve"]
    return [
        ("re-solves from the last plan at least 3 times faster", f"{ratio:.2f}", ratio >= 3),
        ("answers at the default budget at most 3 times the solve", f"{share:.1f}", share <= 3),
    ]


def again_lines(again: dict[str, dict[str, Any]]) -> list[str]:
    """Return the section on re-solves."""
    spent, asked = again["re-solves"], again["answers"]
    cold, warm = spent["seconds"]["cold"], spent["seconds"]["warm"]
    solve, analyse = asked["seconds"]["solve"], asked["seconds"]["analyse"]
    first = (
        f"{spent['count']} re-solves to a gap of 0.01 %, each with one campaign's work raised by "
        f"1 %: {cold:.1f} s of CPU cold, {warm:.1f} s from the last plan."
    )
    second = (
        f"Solve {solve:.1f} s, all answers {analyse:.1f} s of wall time; {asked['finished']} of "
        f"{asked['marginals']} marginals begun were finished."
    )
    return [first, "", second]


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
