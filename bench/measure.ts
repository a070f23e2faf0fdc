/** One thing that is measured: `run` does all of the work once. */
export interface Subject {
  readonly name: string;
  run(): unknown;
}

export interface Measured {
  readonly name: string;
  /** CPU microseconds for one unit of work, one figure per round. */
  readonly rounds: readonly number[];
}

export interface MeasureOptions {
  /** How many units one `run` does. */
  readonly units: number;
  readonly rounds?: number;
}

/**
 * Runs every subject in turn, round after round, so that a noisy moment of the machine meets all of them, and
 * counts CPU time, which other processes do not add to. The first two rounds warm up and do not count.
 */
export async function measure(
  subjects: readonly Subject[],
  { units, rounds = 9 }: MeasureOptions,
): Promise<Measured[]> {
  const results = subjects.map(({ name }) => ({ name, rounds: [] as number[] }));
  // Once, for what building the subjects left behind. Between rounds it would throw away optimised code, too.
  globalThis.gc?.();
  for (let round = -2; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      const before = process.cpuUsage();
      await subject.run();
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) results[index]?.rounds.push((user + system) / units);
    }
  }
  return results;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Half the distance between the quartiles, in percent of the median. */
export function spread(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return (50 * (at(0.75) - at(0.25))) / median(values);
}
