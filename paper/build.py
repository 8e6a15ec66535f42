"""Builds the manuscript: paper/paper.pdf from paper/paper.typ, paper/data and paper/figures.

Needs the `typst` package of PyPI. `--data` makes figures and tables anew first from what the repository holds: a minute, and one more for the
benches. `--reference` and `--tosses` make those anew that need recordings of others; without them the committed tables stay.
"""

import argparse
import pathlib
import subprocess

import collect
import typst

PAPER = pathlib.Path(__file__).resolve().parent
OSCULATE = ["cargo", "run", "--release", "-p", "osculate-cli", "--"]


def main() -> None:
    """Reads the arguments and builds."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", action="store_true", help="run the experiments first")
    arguments.add_argument("--reference", type=pathlib.Path, metavar="DIR", help="folder with superdex/data and steel/data, for the cross-check")
    arguments.add_argument("--tosses", type=pathlib.Path, metavar="DIR", help="real recordings (`osculate import contactnets`): ten minutes")
    arguments.add_argument("--out", type=pathlib.Path, default=PAPER / "paper.pdf", help="file to write")
    given = arguments.parse_args()
    if given.data:
        subprocess.run([*OSCULATE, "validate"], cwd=PAPER.parent, check=True)
        scene = "experiments/certificate/scene.toml"
        certificate = ["verify", scene, "--csv", "paper/data/certificate.csv", "--latex", "paper/tables/certificate.tex"]
        subprocess.run([*OSCULATE, *certificate], cwd=PAPER.parent, check=True)
        collect.identification(None)
        collect.costs()
    if given.reference:
        collect.exactness(given.reference.resolve())
    if given.tosses:
        collect.identification(given.tosses.resolve())
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_bytes(typst.compile(PAPER / "paper.typ", root=PAPER))
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()
