#!/usr/bin/env python3
"""Creep of a cube below its friction limit in other engines, as one CSV.

peers.py PEERS --mujoco PYTHON --drake PYTHON --newton PYTHON [--cache DIR] [--dt-newton S] > friction_limit_peers.csv

PEERS holds peer_mujoco.py, peer_drake.py and peer_newton.py; each PYTHON has the engine of that name. An engine that is
not given is left out. The scene of those scripts: cube of 0.1 m and 0.37 kg, mu 0.5, pushed at its centre or on a slope of
the same load, 0.5 s to settle, then 10 s.
"""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

LOADS = ["0.5", "0.9", "0.97"]
MUJOCO = {
    "pyramidal": ["--cone", "pyramidal"],
    "elliptic, impratio 1": ["--cone", "elliptic"],
    "elliptic, impratio 10": ["--cone", "elliptic", "--impratio", "10"],
    "elliptic, impratio 100": ["--cone", "elliptic", "--impratio", "100"],
    "elliptic, impratio 10, noslip 10": ["--cone", "elliptic", "--impratio", "10", "--noslip", "10"],
}
DRAKE = {"SAP": ["--approx", "sap"], "lagged": ["--approx", "lagged"]}
STEEL = {"anchors": [], "points": ["--beta", "0"]}


def run(python, script, arguments):
    """The JSON lines that a script prints."""
    found = subprocess.run([python, str(script), "--scenario", "B", *arguments], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"{script.name} {' '.join(arguments)}: {found.stderr.strip().splitlines()[-1:]}")
    return [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("peers", type=Path)
    p.add_argument("--mujoco")
    p.add_argument("--drake")
    p.add_argument("--newton")
    p.add_argument("--cache", default="", help="where newton keeps compiled kernels")
    p.add_argument("--dt-newton", default="0.004166666666666667")
    a = p.parse_args()
    jobs = []
    if a.mujoco:
        jobs += [("MuJoCo", n, a.mujoco, "peer_mujoco.py", o + ["--dt", "0.002"]) for n, o in MUJOCO.items()]
    if a.drake:
        jobs += [("Drake", n, a.drake, "peer_drake.py", o + ["--dt", "0.001"]) for n, o in DRAKE.items()]
    if a.newton:
        steel = ["--solver", "steel", "--dt", a.dt_newton, "--cache", a.cache]
        jobs += [("Steel", n, a.newton, "peer_newton.py", steel + o) for n, o in STEEL.items()]
    out = csv.writer(sys.stdout, lineterminator="\n")
    print("# experiments/friction_limit/peers.py: creep in 10 s after settling, cube of 0.1 m and 0.37 kg, mu 0.5")
    out.writerow(["engine", "version", "mode", "dt_s", "kind", "load", "creep_um_in_10_s", "late_um_per_s"])
    for engine, mode, python, script, options in jobs:
        for load in LOADS:
            for r in run(python, a.peers / script, [*options, "--load", load]):
                creep = r.get("creep_mm_10s", r.get("creep_mm"))
                dt = options[options.index("--dt") + 1]
                row = [engine, r["version"], mode, f"{float(dt):.6g}", r["mode"], load]
                out.writerow([*row, f"{1e3 * creep:.4g}", f"{1e3 * r['creep_rate_mm_s']:.4g}"])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
