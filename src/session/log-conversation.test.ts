import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../domain/agent-event.ts";
import type { Envelope } from "../domain/envelope.ts";
import { evolveConversation, initialConversation } from "./conversation.ts";
import { logConversation } from "./log-conversation.ts";

const PAGE = 1000;

/** A log, and from where it was read each time. */
function logOf(turns: number, deltas: number) {
  const log: Envelope[] = [];
  const reads: number[] = [];
  const add = (event: AgentEvent): void => {
    const seq = log.length + 1;
    log.push({ seq, at: 0, sessionId: "ses_1", visibility: "public", event });
  };
  for (let turn = 0; turn < turns; turn++) {
    const callId = `call_${turn}`;
    const messageId = `msg_${turn}`;
    const content = [{ type: "text", text: `No. ${turn}` }] as const;
    add({ type: "message.sent", messageId: `said_${turn}`, content, origin: "prompt" });
    add({ type: "call.started", callId, upstreamId: "up", purpose: "prompt" });
    add({ type: "message.started", messageId, role: "assistant" });
    for (let at = 0; at < deltas; at++) add({ type: "text.delta", messageId, block: 0, text: "x" });
    add({ type: "text.finished", messageId, block: 0, text: `Yes, ${turn}.` });
    add({ type: "message.finished", messageId, reason: "stop" });
    const how = { outcome: "completed", reason: "stop", usage: null } as const;
    add({ type: "call.finished", callId, ...how });
  }
  return {
    log,
    reads,
    async page(_: string, after: number) {
      reads.push(after);
      return log.slice(after, after + PAGE);
    },
  };
}

describe("the conversation in a log", () => {
  it.each([0, 1, 996, 997, 998, 2500])(
    "is that before the call, however long the log, here with %i deltas in an answer",
    async (deltas) => {
      const store = logOf(3, deltas);
      const before = logConversation(store, "ses_1");
      for (const callId of ["call_0", "call_1", "call_2"]) {
        const start = store.log.findIndex(
          ({ event }) => event.type === "call.started" && event.callId === callId,
        );
        const folded = store.log.slice(0, start).reduce(evolveConversation, initialConversation);
        expect(await before(callId)).toEqual(folded);
      }
    },
  );

  it("is read on from where it stopped, and the same when it is asked for again", async () => {
    const store = logOf(3, 10);
    const before = logConversation(store, "ses_1");
    const first = await before("call_1");
    expect(await before("call_1")).toEqual(first);
    await before("call_2");
    const start = store.log.findIndex(
      ({ event }) => event.type === "call.started" && event.callId === "call_1",
    );
    expect(store.reads).toEqual([0, start, start]);
  });

  it("is whole for two who ask at once", async () => {
    const store = logOf(3, 10);
    const before = logConversation(store, "ses_1");
    const [one, two] = await Promise.all([before("call_2"), before("call_2")]);
    expect(one).toEqual(two);
    expect(await before("call_2")).toEqual(one);
  });
});
