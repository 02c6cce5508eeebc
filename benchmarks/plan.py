"""What would so many passages take on a cluster? A table from measured figures, in Markdown.

    python benchmarks/plan.py

Bytes per passage come from benchmarks/results/cluster.json, the cost of embedding from speed.json; both were measured
on small indexes, so that this is a plan and not a promise.
"""

import json
import sys
from math import ceil
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
SIZES = {"10 M": 10_000_000, "100 M": 100_000_000, "1 B": 1_000_000_000}
COPIES = 2
DIMS, FLOAT, LINKS, LINK = 384, 4, 32, 4  # a vector and its links in the lowest layer of the graph
SHARD_GB = 40
NODE_CACHE_GB = 32  # of a node with 64 GB, half of it heap
NODE_DISK_GB = 2_000
DAYS = 7


def main() -> int:
    """Print the table."""
    per_chunk = json.loads((RESULTS / "cluster.json").read_text())["scale"][
        "bytes per chunk, cluster, one copy, merged"
    ]
    per_second = json.loads((RESULTS / "speed.json").read_text())["passages per CPU-s"]
    in_memory = DIMS * FLOAT + LINKS * LINK
    rows = []
    for name, chunks in SIZES.items():
        disk, memory = chunks * per_chunk / 1e9, chunks * in_memory / 1e9
        shards = max(3, ceil(disk / SHARD_GB))
        by_memory, by_disk = ceil(COPIES * memory / NODE_CACHE_GB), ceil(COPIES * disk / NODE_DISK_GB)
        hours = chunks / per_second / 3600
        rows.append(
            [
                name,
                f"{COPIES * disk:,.0f}",
                f"{COPIES * memory:,.0f}",
                f"{shards}",
                f"{max(3, by_memory, by_disk):,}",
                f"{hours:,.0f}",
                f"{ceil(hours / 24 / DAYS):,}",
            ]
        )
    heads = ["passages", "disk, GB", "vectors, GB", "shards", "nodes", "embedding, CPU-hours", f"cores for {DAYS} days"]
    print(f"{per_chunk:,.0f} bytes per passage and copy, {in_memory:,} of them vectors", end="; ")
    print(f"{per_second:.1f} passages per CPU-s")
    print()
    for row in [heads, ["---"] * len(heads), *rows]:
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
