import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { auditLog, isProven } from "../../src/bridge/audit/audit-log.ts";
import { auditOutput } from "../../src/bridge/audit-output.ts";
import { openReceiptHeads, readReceiptHeads } from "../../src/bridge/receipt-heads.ts";
import { openSigningKeys } from "../../src/bridge/audit/signing-keys.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { ApprovalDecision } from "../../src/domain/policy/approval-decision.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { isReceipt } from "../../src/domain/events/receipt.ts";
import type { ReceiptHeads } from "../../src/session/runtime/log/receipt-head.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../support/session/session-world.ts";
import { WRITE_CALL, createWritingAgent } from "../support/session/writing-agent.ts";

/** A folder with signing keys and recorded heads. */
async function signingFolder() {
  const folder = await mkdtemp(join(tmpdir(), "spanline-cut-off-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keys = await openSigningKeys(folder, 1);
  const heads = await openReceiptHeads(folder, (error) => {
    throw error;
  });
  onTestFinished(() => heads.close());
  return { folder, keys, heads };
}

type SigningFolder = Awaited<ReturnType<typeof signingFolder>>;

async function answerNth(
  world: SessionWorld,
  nth: number,
  decision: ApprovalDecision,
): Promise<void> {
  const { approvalId } = await world.waitForEvent("approval.requested", nth);
  expect(await world.decideApproval(approvalId, decision)).toMatchObject({ status: "accepted" });
}

/** A session with a grant whose revocation is the last event. */
async function revoked({ keys }: SigningFolder, heads: ReceiptHeads) {
  const script = Array.from({ length: 3 }, () => [wants(WRITE_CALL), says("Well.")]).flat();
  const { agent, ran } = createWritingAgent("ask", { provider: createScriptedProvider(script) });
  const world = await openWorld(agent(), { keys, heads });
  await world.prompt("Write.");
  await answerNth(world, 1, "allow-always");
  await world.waitForEvent("turn.finished");
  const { grantId } = await world.waitForEvent("grant.added");
  await world.send({ type: "revoke-grant", grantId });
  expect((await world.readLog()).at(-1)?.event.type).toBe("grant.revoked");
  return { world, ran };
}

/** A store with the log of the session up to an event, as in an older copy of the data directory. */
async function storeBefore(world: SessionWorld, type: SessionEvent["type"]): Promise<Store> {
  const { sessionId } = world;
  const log = await world.readLog();
  const events = log.slice(
    0,
    log.findIndex(({ event }) => event.type === type),
  );
  const store = createMemoryStore();
  const { lease } = await store.acquire(sessionId, { owner: "test", now: 0, durationMs: 1 });
  const index = { agent: "demo", principal: "me" };
  await store.append(lease, 0, { events, sync: true, index });
  return store;
}

/** Number of receipts missing at the end of a log and within it, according to an audit. */
async function missing({ folder, keys }: SigningFolder, log: readonly Envelope[]) {
  const heads = await readReceiptHeads(folder);
  const audit = auditLog(keys);
  const entries = log.flatMap((envelope) => audit.take(envelope).entry ?? []);
  expect(entries.filter(({ signature }) => signature !== "valid")).toEqual([]);
  const atEnd = heads.missingAfter("", audit.last);
  heads.close();
  return { atEnd, within: entries.reduce((sum, entry) => sum + (entry.missing ?? 0), 0) };
}

describe("A truncated log", () => {
  it("An audit misses the grant.revoked that was the last receipt [W-09]", async () => {
    const signing = await signingFolder();
    const { world } = await revoked(signing, signing.heads);
    const log = await world.readLog();
    expect(await missing(signing, log)).toEqual({ atEnd: 0, within: 0 });
    expect(await missing(signing, log.slice(0, -1))).toEqual({ atEnd: 1, within: 0 });
  });

  it("A grant whose revocation was cut off does not count, and the log shows the gap [W-09]", async () => {
    const signing = await signingFolder();
    const { world: before, ran } = await revoked(signing, signing.heads);
    const store = await storeBefore(before, "grant.revoked");
    const world = await before.restart(undefined, { store });
    await world.prompt("Write.");
    await world.waitForEvent("approval.requested", 2);
    expect(ran).toHaveLength(1);
    const cut = (await before.readLog()).length - 1;
    expect(await world.listEvents("approvals.invalidated")).toMatchObject([{ seq: cut }]);
    expect(await missing(signing, await world.readLog())).toEqual({ atEnd: 0, within: 1 });
  });

  it("After the invalidation the session continues through restarts, and an older copy stays invalid [W-09]", async () => {
    const signing = await signingFolder();
    const { world: before, ran } = await revoked(signing, signing.heads);
    const store = await storeBefore(before, "grant.revoked");
    const world = await before.restart(undefined, { store });
    await world.prompt("Write.");
    await answerNth(world, 2, "allow-always");
    await world.waitForEvent("turn.finished", 2);
    const next = await world.restart();
    await next.prompt("Write.");
    await next.waitForEvent("turn.finished", 3);
    expect(ran).toHaveLength(3);
    expect(await next.listEvents("approvals.invalidated")).toHaveLength(1);
    expect((await missing(signing, await before.readLog())).atEnd).toBeGreaterThan(0);
  });
});

describe("A copy of a log which continued separately", () => {
  it("A log whose last receipt differs from the recorded one is invalidated, and stays unproven [W-09]", async () => {
    const signing = await signingFolder();
    const { heads, keys } = signing;
    const { world: before } = await revoked(signing, heads);
    const other: ReceiptHeads = { ...heads, read: () => ({ number: 7, mac: "another" }) };
    const world = await before.restart(undefined, { heads: other });
    await world.sessions.status(world.sessionId);
    const audit = auditLog(keys);
    const entries = (await world.readLog()).flatMap((envelope) => audit.take(envelope).entry ?? []);
    const unproven = entries.filter((entry) => !isProven(entry));
    expect(unproven).toMatchObject([
      { signature: "valid", receipt: { type: "approvals.invalidated", signature: { number: 8 } } },
    ]);
  });
});

describe("A kill between a receipt and its recorded head", () => {
  it("A head behind its log causes no invalidation, and is saved at the next start [W-09]", async () => {
    const signing = await signingFolder();
    const { heads } = signing;
    // The last receipt, grant.revoked, is the seventh.
    const save: ReceiptHeads["save"] = (incarnation, last) => {
      if (last.number < 7) heads.save(incarnation, last);
    };
    const { world: killed } = await revoked(signing, { read: heads.read, save });
    const log = await killed.readLog();
    expect(log.filter(({ event }) => isReceipt(event))).toHaveLength(7);
    expect(await missing(signing, log)).toEqual({ atEnd: 0, within: 0 });
    expect(await missing(signing, log.slice(0, -1))).toEqual({ atEnd: 0, within: 0 });

    const world = await killed.restart(undefined, { heads });
    await world.sessions.status(world.sessionId);
    expect(await world.listEvents("approvals.invalidated")).toEqual([]);
    expect(await missing(signing, log.slice(0, -1))).toEqual({ atEnd: 1, within: 0 });
  });
});

describe("The stored output of a tool", () => {
  it("An audit finds that the output was changed or removed [W-09]", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "read" }), says("Well.")]);
    const read = createTool({ name: "read" }, () => "0123456789".repeat(20_000));
    const world = await openWorld(createAgent({ provider, tools: [read] }));
    await world.prompt("Read.");
    await world.waitForEvent("turn.finished");
    const { store, sessionId } = world;
    const found = async (readBlob: Store["readBlob"]) => {
      const gaps = await Promise.all(
        (await world.readLog()).map((one) => auditOutput({ readBlob }, one)),
      );
      return gaps.flatMap((gap) => gap?.what ?? []);
    };
    const { blobId = "" } = await world.waitForEvent("tool.finished");
    const bytes = (await store.readBlob(sessionId, blobId)) ?? new Uint8Array();
    expect(bytes).toHaveLength(200_000);
    expect(await found((...args) => store.readBlob(...args))).toEqual([]);
    expect(await found(async () => bytes.with(7, 0))).toEqual(["output"]);
    expect(await found(async () => undefined)).toEqual(["output"]);
  });
});
