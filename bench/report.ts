import { median, spread, type Measured } from "./measure.ts";

/** What one row of the table of targets came to. */
export interface Row {
  readonly title: string;
  readonly unit: string;
  readonly measured: readonly Measured[];
  /** CPU per unit at 1×, 4× and 16× the work. */
  readonly growth: readonly { readonly times: number; readonly cost: number }[];
  readonly ratios: readonly Ratio[];
}

export interface Ratio {
  readonly text: string;
  readonly value: number;
  readonly target: number;
  /** Whether `value` has to be at least or at most the target. */
  readonly wanted: "at least" | "at most";
}

export function isMet({ value, target, wanted }: Ratio): boolean {
  return wanted === "at least" ? value >= target : value <= target;
}

/** Targets that are missed today, by row and by the text of the ratio. `--check` does not fail because of them. */
export type KnownMisses = { readonly [row: string]: readonly string[] };

/**
 * Why a run with `--check` fails: a target that is missed and not known to be, or a known miss that names no ratio of its
 * row. Empty if it does not fail.
 */
export function checkTargets(name: string, row: Row, known: KnownMisses): readonly string[] {
  const knownHere = known[name] ?? [];
  const missed = row.ratios.filter((ratio) => !isMet(ratio) && !knownHere.includes(ratio.text));
  const stale = knownHere.filter((text) => !row.ratios.some((ratio) => ratio.text === text));
  return [
    ...missed.map(({ text, value, target, wanted }) => {
      return `${name}: ${text} is ${value.toFixed(2)}, expected ${wanted} ${target}`;
    }),
    ...stale.map((text) => `${name}: the known miss "${text}" is not a ratio of this row`),
  ];
}

export function printRow(row: Row): string {
  const width = Math.max(...row.measured.map(({ name }) => name.length));
  const lines = row.measured.map(({ name, rounds }) => {
    const figure = median(rounds).toFixed(3).padStart(10);
    return `  ${name.padEnd(width)} ${figure} ${row.unit}  ± ${spread(rounds).toFixed(1)} %`;
  });
  const growth = row.growth.map(({ times, cost }) => `${times}× ${cost.toFixed(3)}`).join("   ");
  const ratios = row.ratios.map((ratio) => {
    const sign = ratio.wanted === "at least" ? "≥" : "≤";
    const verdict = isMet(ratio) ? "met" : "MISSED";
    return `  ${ratio.text}: ${ratio.value.toFixed(2)} (target ${sign} ${ratio.target}, ${verdict})`;
  });
  return [
    row.title,
    ...lines,
    ...(row.growth.length > 0 ? [`  growth of ours, ${row.unit}: ${growth}`] : []),
    ...ratios,
    "",
  ].join("\n");
}
