#!/bin/bash
# A sweep as a Slurm job array: PARTS tasks, then one job that joins them.
#
#   SWEEP=mine.toml PARTS=16 OUT=/shared/results bash slurm.sh
#
# A task that is requeued or runs out of time goes on where it stopped when it is submitted again (--resume).
set -euo pipefail

: "${SWEEP:?path of the sweep file, on a file system that all nodes see}"
: "${OUT:?folder for the results, on a file system that all nodes see}"
PARTS="${PARTS:-16}"
CPUS="${CPUS:-8}"
TIME="${TIME:-04:00:00}"
mkdir -p "$OUT"

# SIGTERM a minute before the end lets the part close in order; records are safe even without.
array=$(sbatch --parsable --job-name=nicsim-sweep --array="1-$PARTS" --cpus-per-task="$CPUS" --mem=1G --time="$TIME" \
    --requeue --signal=TERM@60 --output="$OUT/part-%a.out" \
    --wrap="exec nicsim sweep '$SWEEP' --out '$OUT/part-'\$SLURM_ARRAY_TASK_ID \
        --shard \$SLURM_ARRAY_TASK_ID/$PARTS --threads $CPUS --resume --quiet")

parts=$(seq -f "'$OUT/part-%g'" -s ' ' 1 "$PARTS")
sbatch --job-name=nicsim-merge --dependency="afterok:$array" --mem=1G --time=00:30:00 --output="$OUT/merge.out" \
    --wrap="exec nicsim sweep merge $parts --out '$OUT/whole'"
