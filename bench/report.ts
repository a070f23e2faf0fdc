import { computeMedian, computeSpread, type Measurement } from "./measure.ts";

/** The result of a row in the table of targets. */
export interface Row {
  readonly title: string;
  readonly unit: string;
  readonly measured: readonly Measurement[];
  /** CPU per unit at 1×, 4× and 16× the work. */
  readonly growth: readonly { readonly times: number; readonly cost: number }[];
  readonly ratios: readonly Ratio[];
  /** The reason why nothing was measured. */
  readonly skipped?: string;
}

export interface Ratio {
  readonly text: string;
  readonly value: number;
  readonly target: number;
  /** Whether `value` must be at least or at most the target. */
  readonly bound: "at least" | "at most";
}

export function isTargetMet({ value, target, bound }: Ratio): boolean {
  return bound === "at least" ? value >= target : value <= target;
}

/** Currently missed targets, by row and ratio text. `--check` does not fail on them. */
export type KnownMisses = { readonly [row: string]: readonly string[] };

/**
 * Why a run with `--check` fails: a missed target which is not listed as a known miss, or a known miss without a
 * matching ratio. Empty if the run passes.
 */
export function checkTargets(name: string, row: Row, knownMisses: KnownMisses): readonly string[] {
  const rowMisses = knownMisses[name] ?? [];
  const missed = row.ratios.filter(
    (ratio) => !isTargetMet(ratio) && !rowMisses.includes(ratio.text),
  );
  const stale =
    row.skipped === undefined
      ? rowMisses.filter((text) => !row.ratios.some((ratio) => ratio.text === text))
      : [];
  return [
    ...missed.map(({ text, value, target, bound }) => {
      return `${name}: ${text} is ${value.toFixed(2)}, expected ${bound} ${target}`;
    }),
    ...stale.map((text) => `${name}: the known miss "${text}" is not a ratio of this row`),
  ];
}

export function formatRow(row: Row): string {
  if (row.skipped !== undefined) return `${row.title}\n  skipped: ${row.skipped}\n`;
  const width = Math.max(...row.measured.map(({ name }) => name.length));
  const lines = row.measured.map(({ name, rounds }) => {
    const figure = computeMedian(rounds).toFixed(3).padStart(10);
    return `  ${name.padEnd(width)} ${figure} ${row.unit}  ± ${computeSpread(rounds).toFixed(1)} %`;
  });
  const growth = row.growth.map(({ times, cost }) => `${times}× ${cost.toFixed(3)}`).join("   ");
  const ratios = row.ratios.map((ratio) => {
    const sign = ratio.bound === "at least" ? "≥" : "≤";
    const verdict = isTargetMet(ratio) ? "met" : "MISSED";
    return `  ${ratio.text}: ${ratio.value.toFixed(2)} (target ${sign} ${ratio.target}, ${verdict})`;
  });
  return [
    row.title,
    ...lines,
    ...(row.growth.length > 0 ? [`  growth of spanline, ${row.unit}: ${growth}`] : []),
    ...ratios,
    "",
  ].join("\n");
}
