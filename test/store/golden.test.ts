import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { EVENT_MANIFEST } from "../../src/domain/events/event-manifest.ts";
import { decide } from "../../src/session/decide.ts";
import { evolve } from "../../src/session/evolve.ts";
import { initialState } from "../../src/session/session-state.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
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
 * Logs written by released versions, and the events read from them today. A release adds a pair of files and never
 * changes older files; until 0.1 is released, a new event variant is a new line in its files.
 */
describe.each(releases)("Golden log of version %s", (release) => {
  it("A golden log is read completely, passes the integrity check and accepts a lease", async () => {
    const rows = rowsOf(release);
    const store = await opened({ file: await fileWithLog("ses_golden", rows) });
    const expectedLines = linesOf(`log-${release}.read.jsonl`);
    expect(await store.read("ses_golden", 0, rows.length + 1)).toEqual(expectedLines);
    expect(await store.checkIntegrity()).toEqual([]);
    const acquired = await store.acquire("ses_golden", { owner: "me", now: 0, durationMs: 1 });
    expect(acquired.head.seq).toBe(rows.length);
  });

  it("Every prefix of a golden log can be folded and recovered by the current version", async () => {
    const rows = rowsOf(release);
    const store = await opened({ file: await fileWithLog("ses_golden", rows) });
    const log = await store.read("ses_golden", 0, rows.length + 1);
    const input = { type: "recovery-started", epoch: 9, at: 1_800_000_000_100, seed: "0" } as const;
    for (const { seq } of log) {
      const state = log.slice(0, seq).reduce(evolve, initialState);
      const { events, state: after } = decide(state, input);
      expect(events.reduce(evolve, state)).toEqual(after);
    }
  });
});

describe("Grants in the golden log of version 0.1", () => {
  it("A grant stays valid, a revoked grant does not, and no grant survives an invalidation", () => {
    const log = linesOf("log-0.1.read.jsonl") as readonly Envelope[];
    const doubted = log.findIndex(({ event }) => event.type === "approvals.invalidated");
    expect(log.reduce(evolve, initialState).approvals.grants).toEqual([]);
    const { approvals } = log.slice(0, doubted).reduce(evolve, initialState);
    expect(approvals).toEqual({
      pending: [],
      grants: [
        {
          grantId: "grant_1",
          scope: {
            tool: "shell",
            rule: { source: "require_approval", action: "ask", id: null, index: 0 },
            command: "git log | head",
            digest: "sha256:4e07408562",
          },
        },
      ],
    });
  });
});

describe("Golden logs", () => {
  it("The golden logs contain every event type in its current version", () => {
    const rows = releases.flatMap(rowsOf);
    const seen = new Set(rows.map(({ type, version }) => `${type} ${version}`));
    const expectedTypes = Object.entries(EVENT_MANIFEST).map(
      ([type, { version }]) => `${type} ${version}`,
    );
    expect(expectedTypes.filter((variant) => !seen.has(variant))).toEqual([]);
  });
});
