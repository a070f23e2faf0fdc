/** A measured implementation. `run` does the whole work once. */
export interface Subject {
  readonly name: string;
  run(): unknown;
}

export interface Measurement {
  readonly name: string;
  /** CPU microseconds per unit of work, one figure per round. */
  readonly rounds: readonly number[];
}

export interface MeasureOptions {
  /** Units of work per `run`. */
  readonly units: number;
  readonly rounds?: number;
}

/** CPU milliseconds: the warm-up of a subject before measurement, and the duration of a round. */
const WARM_UP_MS = 400;
const ROUND_MS = 40;

/**
 * Runs all subjects in turn, round by round, so that a noisy phase of the machine affects all of them. Counts CPU time,
 * which other processes do not add to.
 */
export async function measure(
  subjects: readonly Subject[],
  { units, rounds = 9 }: MeasureOptions,
): Promise<Measurement[]> {
  // Collects the garbage of the setup once. Between rounds a collection would also discard optimised code.
  globalThis.gc?.();
  const lanes = [];
  for (const subject of subjects) {
    const repeats = await warmUp(subject);
    lanes.push({ subject, repeats, rounds: [] as number[] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { subject, repeats, rounds: figures } of lanes) {
      figures.push((1000 * (await measureCpu(subject, repeats))) / (repeats * units));
    }
  }
  return lanes.map(({ subject, rounds: figures }) => ({ name: subject.name, rounds: figures }));
}

/** Warms up and returns the number of runs per round. */
async function warmUp(subject: Subject): Promise<number> {
  let totalMs = await measureCpu(subject, 2);
  let last = totalMs / 2;
  while (totalMs < WARM_UP_MS) {
    last = await measureCpu(subject, 1);
    totalMs += Math.max(last, 0.1);
  }
  return Math.max(1, Math.round(ROUND_MS / Math.max(last, 0.1)));
}

/** CPU milliseconds. */
async function measureCpu(subject: Subject, repeats: number): Promise<number> {
  const startUsage = process.cpuUsage();
  for (let time = 0; time < repeats; time++) await subject.run();
  const { user, system } = process.cpuUsage(startUsage);
  return (user + system) / 1000;
}

export function computeMedian(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Half the interquartile range, in percent of the median. */
export function computeSpread(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  const range = at(0.75) - at(0.25);
  return range === 0 ? 0 : (50 * range) / computeMedian(values);
}
