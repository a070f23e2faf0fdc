import { parseArgs } from "node:util";
import { computeMedian } from "./measure.ts";
import { KNOWN_MISSES } from "./known-misses.ts";
import { checkTargets, isTargetMet, formatRow, type Row } from "./report.ts";

/** The rows of the table of targets by name. Each module is loaded only when its row runs. */
const ROWS: { readonly [name: string]: (count?: number) => Promise<Row> } = {
  decode: async () => (await import("./rows/row-01-decode.ts")).measureDecode(),
  invoke: async () => (await import("./rows/row-02-invoke.ts")).measureInvoke(),
  fold: async () => (await import("./rows/row-03-fold.ts")).measureFold(),
  noise: async () => (await import("./rows/row-04-noise.ts")).measureNoise(),
  acp: async () => (await import("./rows/row-05-acp.ts")).measureAcp(),
  append: async () => (await import("./rows/row-07-append.ts")).measureAppend(),
  "first-delta": async () => (await import("./rows/row-06-first-delta.ts")).measureFirstDelta(),
  gateway: async () => (await import("./rows/row-06-gateway.ts")).measureGateway(),
  "fan-out": async () => (await import("./rows/row-08-fan-out.ts")).measureFanOut(),
  turns: async () => (await import("./rows/row-turns.ts")).measureTurns(),
  churn: async (count) => (await import("./rows/row-churn.ts")).churnRow(count),
  hostile: async (count) => (await import("./rows/row-hostile.ts")).hostileRow(count),
  recovery: async () => (await import("./rows/row-09-recovery.ts")).measureRecovery(),
  "cold-start": async () => (await import("./rows/row-10-cold-start.ts")).measureColdStart(),
  idle: async () => (await import("./rows/row-11-idle.ts")).measureIdle(),
  load: async () => (await import("./rows/row-12-load.ts")).measureLoad(),
  "long-session": async () => (await import("./rows/row-14-long-session.ts")).measureLongSession(),
  portal: async () => (await import("./rows/row-portal.ts")).measurePortal(),
  workers: async () => (await import("./rows/row-workers.ts")).measureWorkers(),
  steering: async () => (await import("./rows/row-steering.ts")).measureSteering(),
  compaction: async () => (await import("./rows/row-compaction.ts")).measureCompaction(),
  artifacts: async () => (await import("./rows/row-artifacts.ts")).measureArtifacts(),
  memory: async () => (await import("./rows/row-memory.ts")).measureMemory(),
  import: async () => (await import("./rows/row-import.ts")).measureImport(),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    count: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  process.stdout.write(
    `npm run bench -- [--json] [--check] [--count N] [${Object.keys(ROWS).join("|")}]…\n`,
  );
  process.exit(0);
}
const count = values.count === undefined ? undefined : Number(values.count);
if (count !== undefined && !(Number.isSafeInteger(count) && count > 0)) {
  process.stderr.write(
    `--count ${values.count} is not a valid count: expected a whole number above 0\n`,
  );
  process.exit(2);
}
const unknownRows = positionals.filter((name) => !(name in ROWS));
if (unknownRows.length > 0) {
  process.stderr.write(
    `No such row: ${unknownRows.join(", ")}. Expected: ${Object.keys(ROWS).join(", ")}\n`,
  );
  process.exit(2);
}

const rows: Row[] = [];
const failures: string[] = [];
for (const [name, run] of Object.entries(ROWS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[Kmeasuring ${name} …`);
  const row = await run(count);
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  rows.push(row);
  failures.push(...checkTargets(name, row, KNOWN_MISSES));
  if (!values.json) process.stdout.write(`${formatRow(row)}\n`);
}
if (values.json) process.stdout.write(`${JSON.stringify(rows.map(summarizeRow), null, 2)}\n`);

if (values.check && failures.length > 0) {
  process.stderr.write(`Missed targets:\n  ${failures.join("\n  ")}\n`);
  process.exitCode = 1;
}

function summarizeRow({ title, unit, measured, growth, ratios, skipped }: Row): unknown {
  const medians = measured.map(({ name, rounds }) => ({
    name,
    median: computeMedian(rounds),
    rounds,
  }));
  return {
    title,
    unit,
    measured: medians,
    growth,
    ratios: ratios.map((ratio) => ({ ...ratio, met: isTargetMet(ratio) })),
    ...(skipped !== undefined && { skipped }),
  };
}
