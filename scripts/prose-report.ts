import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/**
 * Measures the language of comments, messages and test titles per folder, so that the language does not get worse.
 *
 * - `npm run prose` prints all folders; `npm run prose -- src/http` prints folders below a path.
 * - `npm run prose -- --check` fails if a folder is worse than `scripts/prose-baseline.json`, if a message contains a
 *   banned phrase, or if a folder lost more than 15 % of its comment words per line.
 * - `npm run prose -- --update` writes the baseline.
 */

interface Measures {
  /** Pronouns per 1,000 comment words. */
  readonly vague: number;
  /** Banned phrases per 1,000 comment words. */
  readonly archaic: number;
  /** Comment words per 1,000 lines. */
  readonly density: number;
}

interface FolderCounts {
  lines: number;
  words: number;
  vague: number;
  archaic: number;
}

const BASELINE = "scripts/prose-baseline.json";
const FOLDERS = ["src", "test", "bench", "scripts", "examples"];
const SKIPPED = /(^|\/)(node_modules|\.build|fixtures|captures)(\/|$)/;
/** Allowed increase over the baseline: a single pronoun in a small folder is noise. */
const TOLERANCE = 3;
const MAX_DENSITY_LOSS = 0.15;

const VAGUE =
  /\b(?:it|that|one|ones|those|these|they|them|who|whom|whose|whoever|what|whatever|nobody|somebody|anybody|everybody|nothing|something)\b/gi;
const BANNED = [
  /\b(?:nobody|somebody|anybody|whoever)\b/gi,
  /\b(?:is|are|was|be|been|were) no (?!longer|more|matter)[a-z]/gi,
  /\b(?:said|told|heard|spoken|says of|say of)\b/gi,
  /\b(?:goes? on|went on|going on|taken up|takes? up|took up|comes? of|came of|goes away|gives? back|given back)\b/gi,
  /\b(?:beside|so long as|so many|so much|at hand|of its own|of ours|of theirs|all the same|under way|on its way|thereby|for ever|wanted)\b/gi,
  /\bwhat (?:is|was|were|are|it|they|a|an|the|has|have|had|comes|came|goes|went|can|could|may|must|should|would|follows|belongs|others?)\b/gi,
  /\bwhere (?:nobody|somebody|there is|that is|it is)\b/gi,
];

const folders = new Map<string, FolderCounts>();
const bannedMessages: string[] = [];
for (const path of listFiles()) measureFile(path);

const args = process.argv.slice(2);
const measures = Object.fromEntries(
  [...folders]
    .sort(([left], [right]) => left.localeCompare(right))
    .map(([folder, counts]) => [folder, toMeasures(counts)]),
);
if (args.includes("--update")) writeFileSync(BASELINE, `${JSON.stringify(measures, null, 2)}\n`);
else if (args.includes("--check")) check();
else print(args[0] ?? "");

function listFiles(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((path) => join(folder, path))
      .filter((path) => /\.tsx?$/.test(path) && !SKIPPED.test(path)),
  );
}

function measureFile(path: string): void {
  const source = readFileSync(path, "utf8");
  const { comments, program } = parseSync(path, source);
  const folder = dirname(path).split("/").slice(0, 3).join("/");
  const counts = folders.get(folder) ?? { lines: 0, words: 0, vague: 0, archaic: 0 };
  folders.set(folder, counts);
  counts.lines += source.split("\n").length;
  for (const { value } of comments) {
    const text = value.replace(/\n\s*\*/g, " ").replace(/`[^`]*`/g, "");
    counts.words += count(text, /[A-Za-z][A-Za-z'-]*/g);
    counts.vague += count(text, VAGUE);
    counts.archaic += countBanned(text);
  }
  const inspect = (text: string): void => {
    if (isMessage(text) && countBanned(text) > 0) bannedMessages.push(`${path}: ${text.trim()}`);
  };
  // A test contains prompts and captured text; only its titles are ours.
  if (isTest(path)) for (const title of listTitles(source)) inspect(title);
  else
    new Visitor({
      Literal: ({ value }) => void (typeof value === "string" && inspect(value)),
      TemplateElement: ({ value }) => inspect(value.cooked ?? value.raw),
      JSXText: ({ value }) => inspect(value.replaceAll(/\s+/g, " ")),
    }).visit(program);
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.startsWith("test/");
}

function listTitles(source: string): string[] {
  const titles = source.matchAll(
    /(?:^\s*(?:describe|it|test)(?:\.[a-zA-Z]+)*\(|\]\)\()\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`)/gm,
  );
  return [...titles].map(([, double, single, template]) => double ?? single ?? template ?? "");
}

/** Messages and titles have four words or more; code and SQL inside strings do not count. */
function isMessage(text: string): boolean {
  return / .* .* /.test(text) && !/[{}<>=;]|^\s*[A-Z_]+\s/.test(text);
}

function check(): void {
  const baseline: { readonly [folder: string]: Measures } = JSON.parse(
    readFileSync(BASELINE, "utf8"),
  );
  const problems = bannedMessages.map((message) => `banned phrase in a message: ${message}`);
  for (const [folder, now] of Object.entries(measures)) {
    const before = baseline[folder] ?? { vague: 25, archaic: 0, density: now.density };
    for (const name of ["vague", "archaic"] as const) {
      if (now[name] <= before[name] + TOLERANCE) continue;
      problems.push(`${folder}: ${name} words rose from ${before[name]} to ${now[name]} per 1,000`);
    }
    if (now.density >= before.density * (1 - MAX_DENSITY_LOSS)) continue;
    problems.push(
      `${folder}: comment words fell from ${before.density} to ${now.density} per 1,000 lines`,
    );
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${Object.keys(measures).length} folders, ${problems.length} problems\n`);
  if (problems.length > 0) process.exitCode = 1;
}

function print(prefix: string): void {
  for (const [folder, { vague, archaic, density }] of Object.entries(measures)) {
    if (!folder.startsWith(prefix)) continue;
    process.stdout.write(
      `${folder.padEnd(32)} vague ${vague}, archaic ${archaic} per 1,000 words; ${density} words per 1,000 lines\n`,
    );
  }
  for (const message of bannedMessages) process.stdout.write(`banned phrase: ${message}\n`);
}

function toMeasures({ lines, words, vague, archaic }: FolderCounts): Measures {
  const perThousand = (hits: number, total: number): number =>
    total === 0 ? 0 : Math.round((1000 * hits) / total);
  return {
    vague: perThousand(vague, words),
    archaic: perThousand(archaic, words),
    density: perThousand(words, lines),
  };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function countBanned(text: string): number {
  return BANNED.reduce((sum, pattern) => sum + count(text, pattern), 0);
}
