import { expect } from "vitest";
import { auditLog, isProven } from "../../src/bridge/audit/audit-log.ts";
import { readReceiptHeads } from "../../src/bridge/receipt-heads.ts";
import { readSigningKeys } from "../../src/bridge/audit/signing-keys.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { stateOf } from "./expected-transcript.ts";
import { livingIn, type KillWorld } from "./kill-world.ts";

/** The log has no gaps and no open work. */
export function expectWhole(log: readonly Envelope[]): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
  const { turn, approvals } = stateOf(log);
  expect({ current: turn.current, pending: approvals.pending }).toEqual({
    current: null,
    pending: [],
  });
  expect(idsOf(log, "turn.finished")).toEqual(idsOf(log, "turn.started"));
  expect([...idsOf(log, "tool.finished")].sort()).toEqual(idsOf(log, "tool_call.opened").sort());
}

function idsOf(log: readonly Envelope[], type: Envelope["event"]["type"]): string[] {
  return log.flatMap(({ event }) => {
    if (event.type !== type) return [];
    if ("toolCallId" in event && event.toolCallId !== undefined) return [event.toolCallId];
    return "turnId" in event ? [event.turnId] : [];
  });
}

/**
 * Every receipt verifies, none is missing, and no bridge invalidated a receipt: a kill must not be mistaken for
 * tampering with the log.
 */
export async function expectProven(
  { keysDirectory }: KillWorld,
  log: readonly Envelope[],
): Promise<void> {
  const heads = await readReceiptHeads(keysDirectory);
  const audit = auditLog(await readSigningKeys(keysDirectory));
  const found = log.map(audit.take);
  const entries = found.flatMap(({ entry }) => entry ?? []);
  const unproven = entries.filter((entry) => !isProven(entry));
  const missingAtEnd = heads.missingAfter("", audit.last);
  heads.close();
  expect({ unproven, missingAtEnd, gaps: found.flatMap(({ gap }) => gap ?? []) }).toEqual({
    unproven: [],
    missingAtEnd: 0,
    gaps: [],
  });
  // Tool starts and tool results are receipts, so a log with a tool has at least one receipt per start.
  expect(entries.length).toBeGreaterThanOrEqual(idsOf(log, "tool.started").length);
}

/** Expects a single run of the non-idempotent tool, and no running process of any tool. */
export async function expectOneCharge(world: KillWorld, log: readonly Envelope[]): Promise<void> {
  const charges = (await world.effects()).filter((line) => line === "charge");
  expect(charges.length).toBeLessThanOrEqual(1);
  const groups = log.flatMap(({ event }) =>
    event.type === "tool.process_started" ? [event.group.id] : [],
  );
  expect((await Promise.all(groups.map(livingIn))).flat()).toEqual([]);
}
