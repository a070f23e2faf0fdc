import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { auditLog, type AuditResult } from "../../../src/bridge/audit/audit-log.ts";
import { openSigningKeys, type SigningKeys } from "../../../src/bridge/audit/signing-keys.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { isReceipt } from "../../../src/domain/events/receipt.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { ME, readUntil, openWorld } from "../../support/session/session-world.ts";
import { WRITE_CALL, createWritingAgent } from "../../support/session/writing-agent.ts";

/** The log of a session in which a grant was added, and another process ran the tool again. */
async function signedLog(): Promise<{ keys: SigningKeys; log: readonly Envelope[] }> {
  const folder = await mkdtemp(join(tmpdir(), "spanline-receipts-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keys = await openSigningKeys(folder, 1);
  const store = createMemoryStore();
  const provider = createScriptedProvider([
    wants(WRITE_CALL),
    says("Well."),
    wants(WRITE_CALL),
    says("Well."),
  ]);
  const agents = [createWritingAgent("ask", { provider }).agent()];
  const start = () =>
    createSessions({ store, agents, clock: systemClock, owner: "test", sign: keys.sign });
  const from = { principal: ME };
  const text = { type: "prompt", content: [{ type: "text", text: "Write." }] } as const;

  const first = start();
  const { sessionId } = await first.open({ principal: ME });
  await first.command(sessionId, text, from);
  const requestEnvelope = await readUntil(
    first,
    sessionId,
    ({ event }) => event.type === "approval.requested",
  );
  const { approvalId } = Object(requestEnvelope.at(-1)?.event);
  const answer = { type: "decide-approval", approvalId, decision: "allow-always" } as const;
  await first.command(sessionId, answer, from);
  await readUntil(first, sessionId, ({ event }) => event.type === "turn.finished");
  await first.close();

  const second = start();
  await second.command(sessionId, text, from);
  let turns = 0;
  const log = await readUntil(second, sessionId, ({ event }) => {
    if (event.type === "turn.finished") turns += 1;
    return turns === 2;
  });
  await second.close();
  return { keys, log };
}

/** The log of a session in which two calls of one message wait for approval with the same arguments. */
async function requestedTwice(): Promise<{ keys: SigningKeys; log: readonly Envelope[] }> {
  const folder = await mkdtemp(join(tmpdir(), "spanline-receipts-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const keys = await openSigningKeys(folder, 1);
  const provider = createScriptedProvider([
    wants(WRITE_CALL, { ...WRITE_CALL, id: "c2" }),
    says("Well."),
  ]);
  const world = await openWorld(createWritingAgent("ask", { provider }).agent(), { keys });
  await world.prompt("Write.");
  await world.waitForEvent("approval.requested", 2);
  return { keys, log: await world.readLog() };
}

function found(log: readonly Envelope[], keys: SigningKeys): AuditResult[] {
  const audit = auditLog(keys);
  return log.map(audit.take).filter(({ entry, gap }) => {
    return (
      gap !== undefined || (entry !== undefined && entry.signature !== "valid") || entry?.missing
    );
  });
}

describe("Signed receipts", () => {
  it("Receipts form a chain across processes, and removing any of them is detected [W-09]", async () => {
    const { keys, log } = await signedLog();
    const receipts = log.filter(({ event }) => isReceipt(event));
    expect(receipts.map(({ event }) => event.type)).toEqual([
      "policy.decided",
      "approval.requested",
      "approval.resolved",
      "grant.added",
      "tool.started",
      "tool.finished",
      "policy.decided",
      "tool.started",
      "tool.finished",
    ]);
    expect(receipts.map(({ event }) => Object(event).signature.number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    expect(found(log, keys)).toEqual([]);
    // Removing the last receipt leaves no trace in the log: its number is recorded elsewhere.
    for (const gone of receipts.slice(0, -1)) {
      const rest = log.filter((envelope) => envelope !== gone);
      expect(found(rest, keys), gone.event.type).not.toEqual([]);
    }
    const none = log.filter(({ event }) => !isReceipt(event) || event.type === "tool.started");
    expect(found(none, keys)).toMatchObject([
      { gap: { what: "started" }, entry: { missing: 4 } },
      { gap: { what: "started" }, entry: { missing: 2 } },
    ]);
  });

  it("Receipts removed together with the start of their call are detected at its end [W-09]", async () => {
    const { keys, log } = await signedLog();
    const rest = log.filter(({ event }) => event.type === "tool.finished" || !isReceipt(event));
    expect(found(rest, keys)).toMatchObject([
      { gap: { what: "started" }, entry: { missing: 5 } },
      { gap: { what: "started" }, entry: { missing: 2 } },
    ]);
  });

  it("The audit reports how many receipts were removed, and where", async () => {
    const { keys, log } = await signedLog();
    const [, , third, fourth, fifth] = log.filter(({ event }) => isReceipt(event));
    const rest = log.filter((envelope) => envelope !== third && envelope !== fourth);
    expect(found(rest, keys)).toMatchObject([
      {
        gap: { what: "started" },
        entry: { seq: fifth?.seq, missing: 2, signature: "valid" },
      },
    ]);
  });

  it("A receipt that is copied into the log of another session is forged [W-09]", async () => {
    const { keys, log } = await signedLog();
    const copied = log.map((envelope): Envelope => ({ ...envelope, sessionId: "ses_other" }));
    expect(found(copied, keys).map(({ entry }) => entry?.signature)).toEqual(
      Array.from({ length: 9 }, () => "forged"),
    );
  });

  it("Receipts cannot be renumbered without the key", async () => {
    const { keys, log } = await signedLog();
    const uncounted = log.map((envelope): Envelope => {
      const { event } = envelope;
      if (!isReceipt(event) || event.signature === undefined) return envelope;
      const { number: _, before: __, ...signature } = event.signature;
      return { ...envelope, event: { ...event, signature } };
    });
    expect(found(uncounted, keys).map(({ entry }) => entry?.signature)).toEqual(
      Array.from({ length: 9 }, () => "forged"),
    );
  });

  it.each([
    ["a number that is not numeric", { number: "x" }],
    ["a number below 1", { number: 0 }],
    ["a fractional number", { number: 1.5 }],
    ["a `before` that is not a string", { before: 7 }],
    ["a `before` without a number", { number: undefined }],
  ])(
    "A receipt with %s is forged, and the chain continues from the one before",
    async (_, wrong) => {
      const { keys, log } = await signedLog();
      const second = log.filter(({ event }) => isReceipt(event))[1];
      const changed = log.map((envelope): Envelope => {
        if (envelope !== second) return envelope;
        const event = Object(envelope.event);
        return { ...envelope, event: { ...event, signature: { ...event.signature, ...wrong } } };
      });
      const entries = found(changed, keys).map(({ entry }) => entry);
      expect(entries).toMatchObject([{ signature: "forged" }, { signature: "valid", missing: 1 }]);
      expect(entries[0]).not.toHaveProperty("missing");
    },
  );

  it("A request closed by a change does not count as a denial", async () => {
    const { keys, log } = await signedLog();
    const called = log.find(({ event }) => event.type === "tool_call.received");
    const { toolCallId } = Object(called?.event);
    const until = log.findIndex(({ event }) => event.type === "approval.resolved");
    const denied = { type: "tool.finished", toolCallId, ending: "denied" };
    const ends = (resolvedBy: string) => {
      const resolved = {
        ...Object(log[until]?.event),
        decision: "deny",
        resolvedBy,
        signature: undefined,
      };
      const events = [resolved, denied].map((event) => ({ ...Object(log[until]), event }));
      return [...log.slice(0, until), ...events]
        .map(auditLog(keys).take)
        .map(({ gap }) => gap?.what);
    };
    expect(ends("person").at(-1)).toBeUndefined();
    expect(ends("change").at(-1)).toBe("denied");
  });

  it("Receipts cover the evaluated arguments: changed arguments and the grant's author are reported [W-09]", async () => {
    const { keys, log } = await signedLog();
    const entries = (changed: readonly Envelope[]) =>
      changed.map(auditLog(keys).take).flatMap(({ entry }) => entry ?? []);
    const grantEnvelope = log.find(({ event }) => event.type === "grant.added");
    const { grantId } = Object(grantEnvelope?.event);
    expect(entries(log).map(({ isChanged }) => isChanged)).not.toContain(true);
    const last = entries(log).findLast(({ receipt }) => receipt.type === "policy.decided");
    expect(last?.grant).toEqual({ grantId, principal: ME.id, at: grantEnvelope?.at });

    const called = log.map((envelope): Envelope => {
      const { event } = envelope;
      if (event.type !== "tool_call.received" || event.toolCall.input === null) return envelope;
      return {
        ...envelope,
        event: { ...event, toolCall: { ...event.toolCall, input: { path: "x" } } },
      };
    });
    const decided = entries(called).filter(({ receipt }) => receipt.type === "policy.decided");
    expect(decided.map(({ isChanged, signature }) => [isChanged, signature])).toEqual(
      decided.map(() => [true, "valid"]),
    );

    const changedLog = log.map((envelope): Envelope => {
      const { event } = envelope;
      return event.type === "approval.requested"
        ? { ...envelope, event: { ...event, input: { path: "x" } } }
        : envelope;
    });
    expect(found(changedLog, keys)).toMatchObject([
      { entry: { signature: "forged" }, gap: { what: "shown" } },
    ]);
  });

  it("A tool result that was changed is forged [W-09]", async () => {
    const { keys, log } = await signedLog();
    const changed = log.map((envelope): Envelope => {
      const { event } = envelope;
      if (event.type !== "tool.finished") return envelope;
      const result = { ...event.result, parts: [{ type: "text", text: "Nothing." }] } as const;
      return { ...envelope, event: { ...event, result } };
    });
    expect(
      found(changed, keys).map(({ entry }) => [entry?.receipt.type, entry?.signature]),
    ).toEqual([
      ["tool.finished", "forged"],
      ["tool.finished", "forged"],
    ]);
  });

  it("Two approval requests that were exchanged are forged, both [W-09]", async () => {
    const { keys, log } = await requestedTwice();
    expect(found(log, keys)).toEqual([]);
    const [one, other] = log.filter(({ event }) => event.type === "approval.requested");
    const exchanged = log.map((envelope): Envelope => {
      if (envelope === one) return { ...envelope, event: Object(other).event };
      return envelope === other ? { ...envelope, event: Object(one).event } : envelope;
    });
    const forged = found(exchanged, keys).filter(({ entry }) => entry?.signature === "forged");
    expect(forged.map(({ entry }) => entry?.seq)).toEqual([one?.seq, other?.seq]);
  });

  /** The log with some events changed. */
  const changeEvents = (
    log: readonly Envelope[],
    change: (event: SessionEvent) => SessionEvent,
  ): readonly Envelope[] =>
    log.map((envelope): Envelope => ({ ...envelope, event: change(envelope.event) }));

  it("An audit finds a call whose tool is not the one that was judged and approved [W-09]", async () => {
    const { keys, log } = await signedLog();
    const renamed = changeEvents(log, (event) =>
      event.type === "tool_call.received"
        ? { ...event, toolCall: { ...event.toolCall, name: "erase" } }
        : event,
    );
    expect(found(renamed, keys)).toMatchObject([
      { gap: { what: "tool" }, entry: { signature: "valid", receipt: { type: "policy.decided" } } },
      { gap: { what: "tool" }, entry: { receipt: { type: "approval.requested" } } },
      { gap: { what: "tool" }, entry: { receipt: { type: "policy.decided" } } },
    ]);
  });

  it("An audit finds a call whose id is not the one that was judged [W-09]", async () => {
    const { keys, log } = await signedLog();
    const moved = changeEvents(log, (event) =>
      event.type === "tool_call.received" ? { ...event, toolCallId: "tool_other" } : event,
    );
    expect(found(moved, keys)[0]).toMatchObject({ gap: { what: "tool" } });
  });

  it("An audit finds a call that was received again with another tool in place of a delta [W-09]", async () => {
    const { keys, log } = await signedLog();
    const received = log.find(({ event }) => event.type === "tool_call.received");
    const replaced = log.find(
      ({ seq, event }) => seq > Number(received?.seq) && event.type === "text.delta",
    );
    const toolCall = { ...Object(received?.event).toolCall, name: "erase" };
    const again = log.map((envelope): Envelope =>
      envelope === replaced
        ? { ...envelope, event: { ...Object(received?.event), toolCall } }
        : envelope,
    );
    expect(found(again, keys)).toMatchObject([{ gap: { what: "tool" } }]);
  });

  it("An audit finds a start that was copied over another event, or whose attempt was changed [W-09]", async () => {
    const { keys, log } = await signedLog();
    const started = log.find(({ event }) => event.type === "tool.started");
    const delta = log.findLast(({ event }) => event.type === "text.delta");
    const copied = log.map((envelope): Envelope =>
      envelope === delta ? { ...envelope, event: Object(started).event } : envelope,
    );
    expect(found(copied, keys)).toMatchObject([{ entry: { signature: "forged" } }]);
    const attempts = changeEvents(log, (event) =>
      event.type === "tool.started" ? { ...event, attempt: 2 } : event,
    );
    expect(found(attempts, keys)).toMatchObject([
      { entry: { signature: "forged" } },
      { entry: { signature: "forged" } },
    ]);
  });

  it("An audit finds an agent whose policy in the log is not the one that decided [W-09]", async () => {
    const { keys, log } = await signedLog();
    const allowed = changeEvents(log, (event) => {
      if (event.type !== "agent.configured") return event;
      const { policy: _, ...spec } = event.spec;
      return { ...event, spec };
    });
    expect(found(allowed, keys)).toMatchObject([
      { gap: { what: "agent" }, entry: { signature: "valid" } },
      { gap: { what: "agent" }, entry: { signature: "valid" } },
    ]);
  });

  it.each<[string, Partial<Envelope>]>([
    ["visibility", { visibility: "internal" }],
    ["cause", { cause: "cmd_other" }],
    ["time", { at: 1 }],
    ["turn", { turnId: "turn_other" }],
    ["actor", { actor: { kind: "user", principal: "other" } }],
  ])("A receipt whose %s was changed in the envelope is forged [W-09]", async (_, change) => {
    const { keys, log } = await signedLog();
    const changed = log.map((envelope): Envelope => ({ ...envelope, ...change }));
    expect(found(changed, keys).map(({ entry }) => entry?.signature)).toEqual(
      Array.from({ length: 9 }, () => "forged"),
    );
  });
});
