import { parseArgs } from "node:util";
import { median } from "./measure.ts";
import { KNOWN_MISSES } from "./known-misses.ts";
import { checkTargets, isMet, printRow, type Row } from "./report.ts";

const ROWS: { readonly [name: string]: (count?: number) => Promise<Row> } = {
  decode: async () => (await import("./row-01-decode.ts")).decodeRow(),
  invoke: async () => (await import("./row-02-invoke.ts")).invokeRow(),
  fold: async () => (await import("./row-03-fold.ts")).foldRow(),
  noise: async () => (await import("./row-04-noise.ts")).noiseRow(),
  acp: async () => (await import("./row-05-acp.ts")).acpRow(),
  append: async () => (await import("./row-07-append.ts")).appendRow(),
  "first-delta": async () => (await import("./row-06-first-delta.ts")).firstDeltaRow(),
  gateway: async () => (await import("./row-06-gateway.ts")).gatewayRow(),
  "fan-out": async () => (await import("./row-08-fan-out.ts")).fanOutRow(),
  turns: async () => (await import("./row-turns.ts")).turnsRow(),
  churn: async (count) => (await import("./row-churn.ts")).churnRow(count),
  hostile: async (count) => (await import("./row-hostile.ts")).hostileRow(count),
  recovery: async () => (await import("./row-09-recovery.ts")).recoveryRow(),
  "cold-start": async () => (await import("./row-10-cold-start.ts")).coldStartRow(),
  idle: async () => (await import("./row-11-idle.ts")).idleRow(),
  load: async () => (await import("./row-12-load.ts")).loadRow(),
  "long-session": async () => (await import("./row-14-long-session.ts")).longSessionRow(),
  memory: async () => (await import("./row-memory.ts")).memoryRow(),
  import: async () => (await import("./row-import.ts")).importRow(),
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
const unknown = positionals.filter((name) => !(name in ROWS));
if (unknown.length > 0) {
  process.stderr.write(
    `No such row: ${unknown.join(", ")}. There are: ${Object.keys(ROWS).join(", ")}\n`,
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
  if (!values.json) process.stdout.write(`${printRow(row)}\n`);
}
if (values.json) process.stdout.write(`${JSON.stringify(rows.map(summary), null, 2)}\n`);

if (values.check && failures.length > 0) {
  process.stderr.write(`Targets that are missed:\n  ${failures.join("\n  ")}\n`);
  process.exitCode = 1;
}

function summary({ title, unit, measured, growth, ratios }: Row): unknown {
  const medians = measured.map(({ name, rounds }) => ({ name, median: median(rounds), rounds }));
  return {
    title,
    unit,
    measured: medians,
    growth,
    ratios: ratios.map((ratio) => ({ ...ratio, met: isMet(ratio) })),
  };
}
