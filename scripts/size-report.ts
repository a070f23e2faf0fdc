import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** Prints the lengths of files and functions, compared with the limits of the style guide. */

interface SizedItem {
  readonly name: string;
  readonly lines: number;
}

const paths = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((path) => join("src", path))
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".test.ts"));
const files = paths.map((path): SizedItem => ({
  name: path,
  lines: countLines(readFileSync(path, "utf8")),
}));
const functions = paths.flatMap(listFunctions);

printReport("files", files, { median: 120, p90: 350 });
printReport("functions", functions, { p90: 30 });

function listFunctions(path: string): SizedItem[] {
  const text = readFileSync(path, "utf8");
  const items: SizedItem[] = [];
  const add = (node: { readonly start: number; readonly end: number }): void => {
    const line = countLines(text.slice(0, node.start));
    items.push({ name: `${path}:${line}`, lines: countLines(text.slice(node.start, node.end)) });
  };
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(parseSync(path, text).program);
  return items;
}

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

function countLines(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}
