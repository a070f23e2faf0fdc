import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { countLines, listFunctions, MAX_FUNCTION_LINES } from "./function-sizes.ts";

/**
 * Prints the lengths of files and functions, compared with the limits of the style guide. Fails if a function of more
 * than 60 lines is neither a flat table nor a flat `switch`.
 */

interface SizedItem {
  readonly name: string;
  readonly lines: number;
}

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => join("src", path))
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));
const files = sources.map(({ path, text }) => ({ name: path, lines: countLines(text) }));
const functions = sources.flatMap(({ path, text }) => listFunctions(path, text));
const tooLong = functions.filter(({ lines, isFlat }) => lines > MAX_FUNCTION_LINES && !isFlat);

printReport("files", files, { median: 120, p90: 350 });
printReport("functions", functions, { p90: 30 });
for (const { name, lines } of tooLong)
  process.stderr.write(
    `${name}: the function has ${lines} lines: expected at most ${MAX_FUNCTION_LINES}, or a flat table or switch\n`,
  );
if (tooLong.length > 0) process.exitCode = 1;

function printReport(
  label: string,
  sized: readonly SizedItem[],
  budget: { readonly [share: string]: number },
): void {
  const sorted = [...sized].sort((left, right) => left.lines - right.lines);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]?.lines ?? 0;
  const figures: { readonly [share: string]: number } = {
    median: at(0.5),
    p90: at(0.9),
    most: at(1),
  };
  const formatted = Object.entries(figures).map(([share, lines]) => {
    const limit = budget[share];
    if (limit === undefined) return `${share} ${lines}`;
    return `${share} ${lines} (${lines <= limit ? "within" : "OVER"} ${limit})`;
  });
  const longest = sorted.slice(-5).toReversed();
  process.stdout.write(`${sized.length} ${label}, lines: ${formatted.join(", ")}\n`);
  for (const { name, lines } of longest)
    process.stdout.write(`  ${String(lines).padStart(5)}  ${name}\n`);
}
