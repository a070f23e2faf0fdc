/** One thing that is measured: `run` does all of the work once. */
export interface Subject {
  readonly name: string;
  run(): unknown;
}

export interface Measurement {
  readonly name: string;
  /** CPU microseconds for one unit of work, one figure per round. */
  readonly rounds: readonly number[];
}

export interface MeasureOptions {
  /** How many units one `run` does. */
  readonly units: number;
  readonly rounds?: number;
}

/** CPU milliseconds that a subject gets to be optimised before it counts, and that one round should take. */
const WARM_UP_MS = 400;
const ROUND_MS = 40;

/**
 * Runs every subject in turn, round after round, so that a noisy moment of the machine meets all of them, and
 * counts CPU time, which other processes do not add to.
 */
export async function measure(
  subjects: readonly Subject[],
  { units, rounds = 9 }: MeasureOptions,
): Promise<Measurement[]> {
  // Once, for what building the subjects left behind. Between rounds it would throw away optimised code, too.
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

/** Returns how many runs make a round. */
async function warmUp(subject: Subject): Promise<number> {
  let totalMs = await measureCpu(subject, 2);
  let last = totalMs / 2;
  while (totalMs < WARM_UP_MS) {
    last = await measureCpu(subject, 1);
    totalMs += Math.max(last, 0.1);
  }
  return Math.max(1, Math.round(ROUND_MS / Math.max(last, 0.1)));
}

/** In milliseconds. */
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

/** Half the distance between the quartiles, in percent of the median. */
export function computeSpread(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return (50 * (at(0.75) - at(0.25))) / computeMedian(values);
}
