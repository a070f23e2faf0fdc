import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { EVENT_MANIFEST } from "../../src/domain/event-manifest.ts";
import { fileWithLog, opened, type StoredRow } from "./sqlite-support.ts";

const folder = join(import.meta.dirname, "golden");
const releases = readdirSync(folder)
  .filter((name) => name.startsWith("log-") && !name.endsWith(".read.jsonl"))
  .map((name) => name.slice("log-".length, -".jsonl".length));
const row = z.object({ seq: z.number(), type: z.string(), version: z.number(), body: z.string() });

function linesOf(name: string): readonly unknown[] {
  const text = readFileSync(join(folder, name), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

function rowsOf(release: string): readonly StoredRow[] {
  return linesOf(`log-${release}.jsonl`).map((line) => row.parse(line));
}

/**
 * Logs as released versions have written them, and what is read from them today. A release adds a pair of files and never
 * changes an older one; until 0.1 is released, a new variant is a new line in its files.
 */
describe.each(releases)("the log of version %s", (release) => {
  it("is read whole, can be written on, and is in order", async () => {
    const rows = rowsOf(release);
    const store = await opened({ file: await fileWithLog("ses_golden", rows) });
    const wanted = linesOf(`log-${release}.read.jsonl`);
    expect(await store.read("ses_golden", 0, rows.length + 1)).toEqual(wanted);
    expect(await store.check()).toEqual([]);
    const acquired = await store.acquire("ses_golden", { owner: "me", now: 0, forMs: 1 });
    expect(acquired.head.seq).toBe(rows.length);
  });
});

describe("the golden logs", () => {
  it("have every variant in its present version at least once", () => {
    const rows = releases.flatMap(rowsOf);
    const seen = new Set(rows.map(({ type, version }) => `${type} ${version}`));
    const wanted = Object.entries(EVENT_MANIFEST).map(
      ([type, { version }]) => `${type} ${version}`,
    );
    expect(wanted.filter((variant) => !seen.has(variant))).toEqual([]);
  });
});
