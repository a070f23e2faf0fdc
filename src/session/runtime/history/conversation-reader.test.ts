import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { evolveConversation, initialConversation, selectHistory } from "./conversation.ts";
import { resolveCompactionPolicy } from "../../../domain/transcript/compaction.ts";
import { createConversationReader } from "./conversation-reader.ts";

const PAGE = 1000;

function unexpected(error: unknown): void {
  throw error;
}

/** A log which records the position of each read. */
function logOf(turns: number, deltas: number) {
  const log: Envelope[] = [];
  const reads: number[] = [];
  const blobs = new Map<string, Uint8Array>();
  const add = (event: SessionEvent): void => {
    const seq = log.length + 1;
    log.push({ seq, at: 0, sessionId: "ses_1", visibility: "public", event });
  };
  for (let turn = 0; turn < turns; turn++) {
    const invocationId = `call_${turn}`;
    const messageId = `msg_${turn}`;
    const content = [{ type: "text", text: `No. ${turn}` }] as const;
    add({ type: "message.sent", messageId: `said_${turn}`, content, origin: "prompt" });
    add({ type: "invocation.started", invocationId, upstreamId: "up", purpose: "prompt" });
    add({ type: "message.started", messageId, role: "assistant" });
    for (let at = 0; at < deltas; at++) add({ type: "text.delta", messageId, block: 0, text: "x" });
    add({ type: "text.finished", messageId, block: 0, text: `Yes, ${turn}.` });
    add({ type: "message.finished", messageId, reason: "stop" });
    const how = { outcome: "completed", reason: "stop", usage: null } as const;
    add({ type: "invocation.finished", invocationId, ...how });
    add({ type: "turn.finished", turnId: `turn_${turn}`, ...how, steps: 1 });
  }
  return {
    log,
    reads,
    blobs,
    readBlob: async (_: string, blobId: string) => blobs.get(blobId),
    async putBlob(_: string, blobId: string, bytes: Uint8Array) {
      blobs.set(blobId, bytes);
    },
    async readPage(_: string, after: number) {
      reads.push(after);
      return log.slice(after, after + PAGE);
    },
  };
}

describe("createConversationReader", () => {
  it.each([0, 1, 996, 997, 998, 2500])(
    "The conversation before an invocation is complete for any length of the log, here with %i deltas per message",
    async (deltas) => {
      const store = logOf(3, deltas);
      const before = createConversationReader(store, "ses_1", { report: unexpected });
      for (const callId of ["call_0", "call_1", "call_2"]) {
        expect(await before(callId)).toEqual(conversationBefore(store.log, callId));
      }
    },
  );

  it("Reading resumes where it stopped, and repeats the same result", async () => {
    const store = logOf(3, 10);
    const before = createConversationReader(store, "ses_1", { report: unexpected });
    const first = await before("call_1");
    expect(await before("call_1")).toEqual(first);
    await before("call_2");
    const start = store.log.findIndex(
      ({ event }) => event.type === "invocation.started" && event.invocationId === "call_1",
    );
    expect(store.reads).toEqual([0, start, start]);
  });

  it("Two concurrent reads both get the whole conversation", async () => {
    const store = logOf(3, 10);
    const before = createConversationReader(store, "ses_1", { report: unexpected });
    const [one, two] = await Promise.all([before("call_2"), before("call_2")]);
    expect(one).toEqual(two);
    expect(await before("call_2")).toEqual(one);
  });

  it("A new process folds only the turns since the stored history, and has the same conversation", async () => {
    const store = logOf(300, 2);
    const first = await createConversationReader(store, "ses_1", { report: unexpected })(
      "call_299",
    );
    expect(store.blobs.size).toBe(5);
    store.reads.length = 0;
    const again = createConversationReader(store, "ses_1", { report: unexpected });
    expect(await again("call_299")).toEqual(first);
    const start = conversationBefore(store.log, "call_299");
    expect(first).toEqual(start);
    expect(store.reads.every((after) => store.log.length - after < 600)).toBe(true);
  });

  it("History imported between turns is joined to the last message, even to a stored one", async () => {
    const store = logOf(300, 2);
    const start = store.log.findIndex(
      ({ event }) => event.type === "turn.finished" && event.turnId === "turn_298",
    );
    const given = { type: "text", text: "And more." } as const;
    const event: SessionEvent = {
      type: "history.imported",
      messages: [{ role: "assistant", blocks: [given] }],
    };
    const rest = store.log.splice(start + 1);
    const envelope = { at: 0, sessionId: "ses_1", visibility: "public" } as const;
    for (const moved of [event, ...rest.map((one) => one.event)])
      store.log.push({ ...envelope, seq: store.log.length + 1, event: moved });
    const options = { report: unexpected, foldedEvents: 1 };
    for (const callId of ["call_298", "call_299"])
      expect(await createConversationReader(store, "ses_1", options)(callId)).toEqual(
        conversationBefore(store.log, callId),
      );
  });

  it("Reminders which expire leave the history, and the stable part of an earlier history never changes", async () => {
    const store = logOf(20, 1);
    addReminders(store.log, [3, 1, undefined, 2, 40]);
    const read = createConversationReader(store, "ses_1", { report: unexpected, foldedEvents: 1 });
    let stable: readonly unknown[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const conversation = await read(`call_${turn}`);
      const { messages, stableCount } = selectHistory(conversation, false);
      expect(messages.slice(0, stable.length)).toEqual(stable);
      stable = messages.slice(0, stableCount);
      const restored = createConversationReader(store, "ses_1", { report: unexpected });
      expect((await restored(`call_${turn}`)).messages).toEqual(conversation.messages);
    }
    expect(stable).toHaveLength(38);
    expect(JSON.stringify(stable).match(/Reminder \d/g)).toEqual(["Reminder 2", "Reminder 4"]);
  });

  it("After compactions at any position, a new process has the same conversation, with and without stored parts", async () => {
    for (const compactedTurns of [[3], [7, 12], [1, 2, 3, 18]]) {
      const store = logOf(20, 1);
      addCompactions(store.log, compactedTurns);
      const options = { report: unexpected, foldedEvents: 1 };
      const read = createConversationReader(store, "ses_1", options);
      for (const callId of ["call_2", "call_10", "call_19"]) {
        expect(await read(callId)).toEqual(conversationBefore(store.log, callId));
      }
      const whole = conversationBefore(store.log, "call_19");
      expect(await createConversationReader(store, "ses_1", options)("call_19")).toEqual(whole);
      expect(JSON.stringify(whole.messages).match(/\(compacted \d+\)/g)).toEqual([
        `(compacted ${compactedTurns.at(-1)})`,
      ]);
    }
  });

  it("A stored history that is damaged is reported, and the log is read in its place", async () => {
    const store = logOf(300, 2);
    const first = await createConversationReader(store, "ses_1", { report: unexpected })(
      "call_299",
    );
    const [[second, bytes] = ["", new Uint8Array()]] = [...store.blobs].slice(1);
    store.blobs.set(
      second,
      bytes.map((byte, at) => (at === 200 ? byte ^ 1 : byte)),
    );
    const reported: unknown[] = [];
    const again = createConversationReader(store, "ses_1", {
      report: (error) => reported.push(error),
    });
    expect(await again("call_299")).toEqual(first);
    expect(reported).toEqual([expect.objectContaining({ code: "store_damaged" })]);
  });

  it("A stored history that is longer than the log is reported, and the log is read in its place", async () => {
    const long = logOf(300, 2);
    await createConversationReader(long, "ses_1", { report: unexpected })("call_299");
    const short = logOf(100, 2);
    for (const [id, bytes] of long.blobs) short.blobs.set(id, bytes);
    const reported: unknown[] = [];
    const again = createConversationReader(short, "ses_1", {
      report: (error) => reported.push(error),
    });
    expect(await again("call_99")).toEqual(conversationBefore(short.log, "call_99"));
    expect(reported).toContainEqual(expect.objectContaining({ code: "store_damaged" }));
  });

  it("A history that cannot be stored is reported, and the conversation is whole", async () => {
    const store = logOf(300, 2);
    const reported: unknown[] = [];
    const full = { ...store, putBlob: () => Promise.reject(new Error("The disk is full")) };
    const before = createConversationReader(full, "ses_1", {
      report: (error) => reported.push(error),
    });
    expect(await before("call_298")).toEqual(conversationBefore(store.log, "call_298"));
    expect(await before("call_299")).toEqual(conversationBefore(store.log, "call_299"));
    expect(reported).toEqual([new Error("The disk is full")]);
  });
});

/** Adds a compaction before the prompt of each given turn, which archives all but the last message. */
function addCompactions(log: Envelope[], turns: readonly number[]): void {
  for (const turn of turns) {
    const start = log.findIndex(
      ({ event }) => event.type === "message.sent" && event.messageId === `said_${turn}`,
    );
    const { messages } = log.slice(0, start).reduce(evolveConversation, initialConversation);
    const compactionId = `compact_${turn}`;
    const measured = { source: "estimate", tokens: 1 } as const;
    const policy = resolveCompactionPolicy({ provider: { keepsHistory: false } });
    const event: SessionEvent = {
      type: "transcript.compacted",
      compactionId,
      usage: null,
      receipt: {
        receiptId: compactionId,
        schemaVersion: 1,
        mode: "manual",
        reason: "command",
        strategy: "truncate",
        requestedStrategy: "truncate",
        engineStrategy: "truncate",
        policy,
        keptHead: 0,
        archivedMessages: messages.length - 1,
        truncatedMessages: messages.length - 1,
        keptTail: 1,
        before: measured,
        after: measured,
        replacement: `(compacted ${turn})`,
        recap: null,
        snapshotAssetId: null,
      },
    };
    log.splice(start, 0, { at: 0, seq: 0, sessionId: "ses_1", visibility: "public", event });
    for (const [index, envelope] of log.entries()) log[index] = { ...envelope, seq: index + 1 };
  }
}

/** Adds a reminder with the given lifetime to each of the first turns. */
function addReminders(log: Envelope[], lifetimes: readonly (number | undefined)[]): void {
  for (const [turn, ttlTurns] of lifetimes.entries()) {
    const reminder = { body: `Reminder ${turn}`, tags: [], mode: "finish_step" } as const;
    const choices = { roleHint: "system", authority: "contract", propagate: "session" } as const;
    const lifetime = ttlTurns === undefined ? {} : { turnsLeft: ttlTurns };
    const content = [{ type: "text", text: reminder.body }] as const;
    const events: SessionEvent[] = [
      {
        type: "reminder.emitted",
        reminderId: `rem_${turn}`,
        reminder: { ...reminder, ...choices, source: "bridge" },
        renderedRole: "user",
        ...lifetime,
      },
      { type: "message.sent", messageId: `reminder_${turn}`, content, origin: "reminder" },
    ];
    const start = log.findIndex(
      ({ event }) => event.type === "invocation.started" && event.invocationId === `call_${turn}`,
    );
    const envelope = { at: 0, sessionId: "ses_1", visibility: "public" } as const;
    const added = events.map((event) => ({ ...envelope, seq: 0, event }));
    log.splice(start, 0, ...added);
  }
  for (const [index, envelope] of log.entries()) log[index] = { ...envelope, seq: index + 1 };
}

function conversationBefore(log: readonly Envelope[], callId: string) {
  const start = log.findIndex(
    ({ event }) => event.type === "invocation.started" && event.invocationId === callId,
  );
  return log.slice(0, start).reduce(evolveConversation, initialConversation);
}
