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
 * Logs as released versions have written them, and what is read from them today. A release adds a pair of files and never
 * changes an older one; until 0.1 is released, a new variant is a new line in its files.
 */
describe.each(releases)("the log of version %s", (release) => {
  it("is read whole, can be written on, and is in order", async () => {
    const rows = rowsOf(release);
    const store = await opened({ file: await fileWithLog("ses_golden", rows) });
    const wanted = linesOf(`log-${release}.read.jsonl`);
    expect(await store.read("ses_golden", 0, rows.length + 1)).toEqual(wanted);
    expect(await store.checkIntegrity()).toEqual([]);
    const acquired = await store.acquire("ses_golden", { owner: "me", now: 0, durationMs: 1 });
    expect(acquired.head.seq).toBe(rows.length);
  });

  it("is folded, however far it goes, and taken up by the bridge of today", async () => {
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

describe("what was allowed in the log of version 0.1", () => {
  it("is allowed today, what was taken back is not, and nothing is once it is doubted", () => {
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
