"""Runs the commands whose numbers stand in tables of the manuscript, and keeps what the tables show in paper/data.

``exactness.csv``       cross-check with recorded cases of other implementations (`osculate crosscheck`)
``identification.csv``  parameters of fits, with intervals (`osculate fit`)
``errors.csv``          errors of roll-outs on tosses that were not fitted (`osculate evaluate`)
``costs.csv``           what benches print
"""

import csv
import json
import pathlib
import re
import subprocess

PAPER = pathlib.Path(__file__).resolve().parent
DATA = PAPER / "data"
OSCULATE = ["cargo", "run", "--release", "--quiet", "-p", "osculate-cli", "--"]
EXPERIMENT = "experiments/cube_toss/experiment.toml"
NUISANCE = "experiments/cube_toss_nuisance/experiment.toml"


def run(*arguments: str, codes: tuple[int, ...] = (0,)) -> str:
    """What a command of osculate prints; stops where it ends with another code."""
    done = subprocess.run([*OSCULATE, *arguments], cwd=PAPER.parent, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in codes:
        raise SystemExit(f"osculate {' '.join(arguments)}: exit code {done.returncode}")
    return done.stdout


def write(name: str, header: list[str], rows: list[list]) -> None:
    """A table of the manuscript."""
    with open(DATA / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"wrote paper/data/{name}")


def read(name: str) -> list[list[str]]:
    """Rows of a table, without its header; none where it is not there yet."""
    file = DATA / name
    return list(csv.reader(file.open(encoding="utf-8")))[1:] if file.exists() else []


def exactness(reference: pathlib.Path) -> None:
    """Families of recorded cases: how many agree and how far the worst is off."""
    rows = []
    for name, folder in (("SuperDex", "superdex"), ("Steel", "steel")):
        found = json.loads(run("crosscheck", str(reference / folder / "data"), "--json", codes=(0, 1)))
        for f in found["families"]:
            counts = [f["cases"], f["passed"], f["explained"], f["unsupported"], f["failed"]]
            tolerance = "" if f["unsupported"] == f["cases"] else f["tolerance"]
            rows.append([name, f["family"], f["measure"], *counts, tolerance, f["worst"]])
    header = ["reference", "family", "measure", "cases", "agree", "differ", "unsupported", "disagree", "tolerance", "worst"]
    write("exactness.csv", header, rows)


def identification(tosses: pathlib.Path | None) -> None:
    """Fits and errors: of the bundled twin, or of real recordings; rows of the other stay as they are."""
    which = "twin" if tosses is None else "recorded"
    data = [] if tosses is None else ["--data", str(tosses)]
    out = PAPER.parent / "target" / "paper" / which
    report = json.loads(run("fit", EXPERIMENT, *data, "--no-figures", "--out", str(out), "--json"))["report"]
    truth = {}
    if tosses is None:
        twin = json.loads((PAPER.parent / "experiments/cube_toss/twin/twin.json").read_text(encoding="utf-8"))
        truth = twin["parameters"]
    rows = [r for r in read("identification.csv") if r[0] != which]
    for p in report["parameters"]:
        verdict = p["verdict"] or {}
        ends = [verdict.get("lower", ""), verdict.get("upper", "")]
        rows.append([which, p["path"], p["unit"], truth.get(p["path"], ""), p["best"], *ends, verdict.get("kind", "")])
    write("identification.csv", ["recordings", "path", "unit", "true", "best", "lower", "upper", "verdict"], sorted(rows))
    kept = [r for r in read("errors.csv") if r[0] != which]
    params = ["--params", str(out / "report.json")]
    judged = {"recorded starts": (EXPERIMENT, [])}
    if tosses is not None:
        judged["estimated initial velocities"] = (NUISANCE, ["--initial-states"])
    for how, (experiment, more) in judged.items():
        found = json.loads(run("evaluate", experiment, *params, *data, "--part", "valid", *more, "--json"))
        found = found.get("initial_states", found) if more else found
        position, rotation = found["position_error_percent"], found["rotation_error_deg"]
        kept.append([which, how, len(found["tosses"]), found["loss"], position["mean"], position["std"], rotation["mean"], rotation["std"]])
    header = ["recordings", "starts", "tosses", "loss", "position_percent", "position_std", "rotation_deg", "rotation_std"]
    write("errors.csv", header, sorted(kept))


def costs() -> None:
    """Lines that benches print as `  what   12.3 ns` or `µs a step`."""
    line = re.compile(r"^ {2}(?P<what>\S.*?) {2,}(?P<value>[\d.]+) (?P<unit>ns|µs a step)")
    rows = []
    for bench in ("sample", "toss"):
        command = ["cargo", "bench", "--quiet", "--bench", bench, "--", "--test"]
        done = subprocess.run(command, cwd=PAPER.parent, check=True, stdout=subprocess.PIPE, text=True)
        rows += [[bench, *found.group("what", "value", "unit")] for found in map(line.match, done.stdout.splitlines()) if found]
    write("costs.csv", ["bench", "what", "value", "unit"], rows)
