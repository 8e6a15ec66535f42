"""What a roll-out of one second costs more from Python than by itself: the call, and reading its arrays.

``python benches/python_overhead.py [ROUNDS]``, with the package installed. The two are timed in turn; printed are medians over
rounds. Bar: 5 %.
"""

import statistics
import sys
import time
from pathlib import Path

import osculate

SCENE = Path(__file__).resolve().parents[1] / "docs/examples/cube_toss.toml"


def one_second() -> osculate.Scene:
    text = SCENE.read_text()
    found = [line for line in text.splitlines() if line.startswith("duration")]
    if len(found) != 1:
        raise SystemExit(f"{SCENE}: {len(found)} lines start with 'duration', 1 needed")
    return osculate.Scene.parse(text.replace(found[0], "duration = 1.0"))


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    scene = one_second()
    values = scene.values
    calls, reads, inner = [], [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        motion = scene.simulate(values)
        called = time.perf_counter()
        arrays = motion.position, motion.rotation, motion.velocity, motion.angular_velocity
        read = time.perf_counter()
        calls.append(called - begin - motion.seconds)
        reads.append(read - called)
        inner.append(motion.seconds)
        del motion, arrays
    roll_out, call, read = (1e6 * statistics.median(x) for x in (inner, calls, reads))
    print(f"{len(scene.times) - 1} steps of {len(scene.bodies)} bodies, median of {rounds}")
    print(f"roll-out {roll_out:8.0f} us")
    print(f"call     {call:8.0f} us   {100 * call / roll_out:.1f} %")
    print(f"arrays   {read:8.0f} us   {100 * read / roll_out:.1f} %")
    print(f"together {call + read:8.0f} us   {100 * (call + read) / roll_out:.1f} %")


if __name__ == "__main__":
    main()
