import { describe, expect, it } from "vitest";
import { findAcpProblems } from "../../../../test/support/acp/acp-schema.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import type { ToolEnding } from "../../../domain/events/tool-events.ts";
import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import { runCodec } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { EVENT_MANIFEST } from "../../../domain/events/event-manifest.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../domain/tools/tool-call.ts";
import { encodePromptOutcome } from "./prompt-outcome.ts";
import { encodeUpdateLine, type AcpSessionUpdate } from "./acp-session-update.ts";
import { createUpdateEncoder } from "./update-encoder.ts";
import { UPDATE_RULES } from "./update-rules.ts";
import type { AcpOutput, UpdateOptions } from "./update-state.ts";

const OPTIONS: UpdateOptions = { sessionId: "s", clientId: "me", upTo: 0, history: "shown" };

function envelopes(events: readonly SessionEvent[], clientId = "other"): Envelope[] {
  return events.map((event, index) => ({
    sessionId: "s",
    seq: index + 1,
    at: 0,
    turnId: "turn_1",
    actor: { kind: "user", clientId },
    visibility: "public",
    event,
  }));
}

function outputs(log: readonly Envelope[], options: Partial<UpdateOptions> = {}): AcpOutput[] {
  return runCodec(createUpdateEncoder({ ...OPTIONS, ...options }), log);
}

function updates(
  log: readonly Envelope[],
  options: Partial<UpdateOptions> = {},
): AcpSessionUpdate[] {
  return outputs(log, options).flatMap((output) =>
    output.type === "update" ? [output.update] : [],
  );
}

const call = createToolCall({ id: "c", name: "read", inputText: '{"path":"a"}', runBy: "client" });
const place = { messageId: "m", block: 0 };

function finishedTool(ending: ToolEnding, isError = ending !== "succeeded"): SessionEvent {
  const result = isError ? createToolError("c", "no") : createToolSuccess("c", { size: 1 });
  return { type: "tool.finished", toolCallId: "t", ending, result };
}

function turnEnd(over: Partial<TurnFinished> = {}): TurnFinished {
  const plain = { outcome: "completed", reason: null, usage: null, steps: 1 } as const;
  return { type: "turn.finished", turnId: "turn_1", ...plain, ...over };
}

const approval: SessionEvent = {
  type: "approval.requested",
  approvalId: "a1",
  question: "run",
  options: ["allow", "deny"],
  subjectId: "t",
  action: "read a",
  input: { path: "a" },
  deadline: 0,
};

/** A turn with every kind of event. */
const TURN: readonly SessionEvent[] = [
  { type: "session.title_changed", title: "A talk" },
  { type: "prompt.accepted", promptId: "p", content: [{ type: "text", text: "hi" }] },
  { type: "turn.started", turnId: "turn_1", promptId: "p" },
  {
    type: "message.sent",
    messageId: "u",
    content: [{ type: "text", text: "hi" }],
    origin: "prompt",
    promptId: "p",
  },
  { type: "thought.delta", ...place, text: "hm" },
  { type: "thought.delta", ...place, text: "m" },
  { type: "thought.finished", ...place, text: "hmm" },
  { type: "text.delta", messageId: "m", block: 1, text: "Let me " },
  { type: "text.delta", messageId: "m", block: 1, text: "look 🚀" },
  { type: "text.delta", messageId: "m", block: 1, text: "." },
  { type: "text.finished", messageId: "m", block: 1, text: "Let me look 🚀." },
  { type: "tool_call.opened", toolCallId: "t", messageId: "m", block: 2, name: "read" },
  { type: "tool_call.input.delta", toolCallId: "t", text: '{"path":"a"}' },
  { type: "tool_call.received", toolCallId: "t", messageId: "m", block: 2, toolCall: call },
  approval,
  { type: "approval.resolved", approvalId: "a1", decision: "allow", resolvedBy: "person" },
  { type: "tool.started", toolCallId: "t", attempt: 1, digest: "d", approvalId: "a1" },
  { type: "tool.progress", toolCallId: "t", text: "half" },
  finishedTool("succeeded"),
  turnEnd(),
];

/** The text of a chunk. Undefined for any other update. */
function textOf(update: AcpSessionUpdate): string | undefined {
  return "messageId" in update && "text" in update.content ? update.content.text : undefined;
}

function textsOf(sentUpdates: readonly AcpSessionUpdate[]): string[] {
  return sentUpdates.flatMap((update) => textOf(update) ?? []);
}

/** The final state of a client: texts by message, and the last state of each tool call. */
function gathered(sentUpdates: readonly AcpSessionUpdate[]): unknown {
  const texts = new Map<string, string>();
  const calls = new Map<string, object>();
  for (const update of sentUpdates) {
    if ("messageId" in update) {
      const key = `${update.sessionUpdate} ${update.messageId}`;
      texts.set(key, (texts.get(key) ?? "") + textOf(update));
    } else if ("toolCallId" in update) {
      const { sessionUpdate, ...fields } = update;
      if ((sessionUpdate === "tool_call") === calls.has(update.toolCallId)) {
        throw new Error(`${sessionUpdate} out of place`);
      }
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...fields });
    }
  }
  return { texts: [...texts], calls: [...calls] };
}

describe("Update rules", () => {
  it("Every session event has an encoder or a reason for sending no update [B-014]", () => {
    expect(Object.keys(UPDATE_RULES).sort()).toEqual(Object.keys(EVENT_MANIFEST).sort());
    const undecided = Object.entries(UPDATE_RULES).filter(
      ([, { encode, silent }]) =>
        (encode === undefined) === (silent === undefined || silent === ""),
    );
    expect(undecided).toEqual([]);
  });

  it("Every update is valid in ACP v0.12.2 [B-016]", () => {
    for (const upTo of [0, 9, TURN.length]) {
      for (const update of updates(envelopes(TURN), { upTo })) {
        expect(findAcpProblems(JSON.parse(encodeUpdateLine("s", update)))).toEqual([]);
      }
    }
  });
});

describe("Live turn", () => {
  it("A turn is sent delta by delta, and each tool call starts with tool_call [B-006]", () => {
    const content = [{ type: "content", content: { type: "text", text: '{"size":1}' } }];
    const chunk = (sessionUpdate: string, messageId: string, text: string): unknown => ({
      sessionUpdate,
      content: { type: "text", text },
      messageId,
    });
    const update = (fields: object): unknown => ({
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      ...fields,
    });
    expect(updates(envelopes(TURN))).toEqual([
      { sessionUpdate: "session_info_update", title: "A talk" },
      chunk("user_message_chunk", "u", "hi"),
      chunk("agent_thought_chunk", "m", "hm"),
      chunk("agent_thought_chunk", "m", "m"),
      chunk("agent_message_chunk", "m", "Let me "),
      chunk("agent_message_chunk", "m", "look 🚀"),
      chunk("agent_message_chunk", "m", "."),
      { sessionUpdate: "tool_call", toolCallId: "t", title: "read", status: "pending" },
      update({ title: "read", rawInput: { path: "a" } }),
      update({ status: "in_progress" }),
      update({ content: [{ type: "content", content: { type: "text", text: "half" } }] }),
      update({
        status: "completed",
        content,
        rawOutput: { size: 1 },
        _meta: { harn: { durationMs: 0 } },
      }),
    ]);
  });

  it("The response to the prompt comes after all updates [ACP-67]", () => {
    expect(outputs(envelopes(TURN)).at(-1)).toEqual({
      type: "answer",
      promptId: "p",
      outcome: { ok: true, result: { stopReason: "end_turn" } },
    });
  });

  it("A client's own prompt is not echoed to it [ACP-72]", () => {
    const own = updates(envelopes(TURN, "me"));
    expect(own.some(({ sessionUpdate }) => sessionUpdate === "user_message_chunk")).toBe(false);
  });

  it("A permission request is sent once and its decision is reported [B-009]", () => {
    const about = outputs(envelopes(TURN)).filter(
      ({ type }) => type === "ask" || type === "decided",
    );
    expect(about).toMatchObject([
      { type: "ask", approval },
      { type: "decided", approvalId: "a1" },
    ]);
  });

  it("A tool call without an approval sends no permission request [B-010]", () => {
    const free = TURN.filter(({ type }) => !type.startsWith("approval."));
    expect(outputs(envelopes(free)).filter(({ type }) => type === "ask")).toEqual([]);
  });

  it.each<readonly [ToolEnding, string]>([
    ["failed", "tool_error"],
    ["denied", "permission_denied"],
    ["cancelled", "cancelled"],
    ["timed-out", "timeout"],
    ["refused", "schema_validation"],
    ["unknown", "unknown"],
  ])(
    "A tool call that ended as %s is failed with its error category [B-007] [ACP-81]",
    (ending, errorCategory) => {
      const called: SessionEvent = {
        type: "tool_call.received",
        toolCallId: "t",
        ...place,
        toolCall: call,
      };
      expect(updates(envelopes([called, finishedTool(ending)])).at(-1)).toEqual({
        sessionUpdate: "tool_call_update",
        toolCallId: "t",
        status: "failed",
        content: [{ type: "content", content: { type: "text", text: "no" } }],
        rawOutput: "no",
        _meta: { harn: { durationMs: 0, error: "no", errorCategory } },
      });
    },
  );

  it("A replay omits an open text that was replaced later", () => {
    const log = envelopes([
      ...TURN.slice(0, 3),
      { type: "thought.delta", messageId: "m", block: 0, text: "hm" },
      { type: "text.delta", messageId: "m", block: 1, text: "BAD" },
      { type: "message.replaced", messageId: "m", text: "GOOD" },
      turnEnd(),
    ]);
    const texts = (upTo: number): string[] => textsOf(updates(log, { upTo }));
    expect(texts(0)).toEqual(["hm", "BAD", "GOOD"]);
    expect(texts(5)).toEqual(["hm", "BAD", "GOOD"]);
    expect(texts(6)).toEqual(["GOOD", "hm"]);
    expect(texts(log.length)).toEqual(["GOOD", "hm"]);
  });

  it("A tool call without an opening event gets tool_call before its update [ACP-55]", () => {
    expect(
      updates(envelopes([finishedTool("server", false)])).map((one) => one.sessionUpdate),
    ).toEqual(["tool_call", "tool_call_update"]);
  });

  it("A client-run tool call is in progress until its result is submitted", () => {
    const paused: readonly SessionEvent[] = [
      { type: "turn.started", turnId: "turn_1", promptId: "p" },
      { type: "tool_call.opened", toolCallId: "t", messageId: "m", block: 2, name: "read" },
      {
        type: "tool_call.received",
        toolCallId: "t",
        messageId: "m",
        block: 2,
        toolCall: call,
        executor: "prompter",
      },
      { type: "turn.paused", turnId: "turn_1", toolCallIds: ["t"] },
      { type: "tool_results.submitted", promptId: "p2", turnId: "turn_1", toolCallIds: ["t"] },
      finishedTool("succeeded"),
    ];
    const sentUpdates = updates(envelopes(paused));
    const statuses = sentUpdates.flatMap((one) => ("status" in one ? [one.status] : []));
    expect(statuses).toEqual(["pending", "in_progress", "completed"]);
    for (const update of sentUpdates) {
      expect(findAcpProblems(JSON.parse(encodeUpdateLine("s", update)))).toEqual([]);
    }
  });

  it("An image in a user message is described as text", () => {
    const image = { type: "image", mediaType: "image/png", blobId: "blob_1", bytes: 5 } as const;
    const sent = {
      type: "message.sent",
      messageId: "u",
      content: [image],
      origin: "prompt",
    } as const;
    expect(updates(envelopes([sent]))).toMatchObject([
      {
        sessionUpdate: "user_message_chunk",
        content: { text: expect.stringContaining("image/png") },
      },
    ]);
  });

  it("Every open tool call ends with the turn [ACP-91]", () => {
    const open = TURN.filter(({ type }) => type !== "tool.finished");
    expect(updates(envelopes(open)).at(-1)).toEqual({
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      status: "failed",
      _meta: {
        harn: {
          durationMs: 0,
          error: "The turn ended before the tool call finished",
          errorCategory: "cancelled",
        },
      },
    });
  });

  it("Events of a turn after its end are not sent [ACP-106]", () => {
    const late: readonly SessionEvent[] = [
      { type: "text.delta", messageId: "m9", block: 0, text: "late" },
      { type: "text.finished", messageId: "m9", block: 0, text: "late" },
      { type: "tool_call.received", toolCallId: "t9", ...place, toolCall: call },
    ];
    expect(updates(envelopes([...TURN, ...late]))).toEqual(updates(envelopes(TURN)));
  });

  it("Internal events and events of other sessions are not sent [B-015]", () => {
    const internal = envelopes(TURN).map((one) => ({ ...one, visibility: "internal" as const }));
    const foreign = envelopes(TURN).map((one) => ({ ...one, sessionId: "another" }));
    expect(outputs(internal)).toEqual([{ type: "caught-up" }]);
    expect(outputs(foreign)).toEqual([]);
  });

  it("Long text is split so that every line fits into the line limit [ACP-15]", () => {
    const text = `${"\u0001".repeat(8191)}🚀${"x".repeat(30_000)}`;
    const sentUpdates = updates(envelopes([{ type: "text.finished", ...place, text }]));
    const lines = sentUpdates.map((update) => encodeUpdateLine("s", update));
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(64 * 1024);
    const texts = textsOf(sentUpdates);
    expect(texts.join("")).toBe(text);
    expect(texts.every((each) => each.isWellFormed())).toBe(true);
  });
});

describe("Loaded session", () => {
  it("A finished block is replayed whole [ACP-54]", () => {
    const sentUpdates = updates(envelopes(TURN), { upTo: TURN.length });
    const texts = textsOf(sentUpdates);
    expect(texts).toEqual(["hi", "hmm", "Let me look 🚀."]);
  });

  it("The final state is the same wherever the load falls into the turn [ACP-60]", () => {
    const log = envelopes(TURN);
    const whole = gathered(updates(log));
    for (let upTo = 1; upTo <= log.length; upTo++) {
      expect(gathered(updates(log, { upTo })), `upTo ${upTo}`).toEqual(whole);
    }
  });

  it("The final state is the same without the deltas of finished blocks", () => {
    const log = envelopes(TURN);
    const keptEvents = log.filter(({ event }) => !event.type.endsWith(".delta"));
    for (const upTo of [1, 8, 10, log.length]) {
      expect(gathered(updates(keptEvents, { upTo }))).toEqual(gathered(updates(log)));
    }
  });

  it("The caught-up mark comes once, between replay and live updates", () => {
    const log = envelopes(TURN);
    for (let upTo = 1; upTo <= log.length; upTo++) {
      const all = outputs(log, { upTo });
      const at = all.findIndex(({ type }) => type === "caught-up");
      expect(all.filter(({ type }) => type === "caught-up")).toHaveLength(1);
      const history = outputs(log.slice(0, upTo), { upTo });
      expect(all.slice(0, at + 1)).toEqual(history.slice(0, at + 1));
    }
  });

  it("Only open permission requests are sent after a load [W-36]", () => {
    const log = envelopes(TURN);
    const asks = (upTo: number): number =>
      outputs(log.slice(0, upTo), { upTo }).filter(({ type }) => type === "ask").length;
    expect([14, 15, 16, TURN.length].map(asks)).toEqual([0, 1, 0, 0]);
    expect(outputs(log.slice(0, 15), { upTo: 15 }).slice(-2)).toMatchObject([
      { type: "caught-up" },
      { type: "ask", approval },
    ]);
  });

  it("A replay is byte-identical each time [ACP-56]", () => {
    const lines = (): string[] =>
      updates(envelopes(TURN), { upTo: TURN.length }).map((update) =>
        encodeUpdateLine("s", update),
      );
    expect(lines()).toEqual(lines());
  });

  it("A replay contains the client's own earlier prompts", () => {
    const sentUpdates = updates(envelopes(TURN, "me"), { upTo: TURN.length });
    expect(sentUpdates.map((one) => one.sessionUpdate)).toContain("user_message_chunk");
  });

  it("A resumed session sends only live updates", () => {
    const log = envelopes(TURN);
    expect(updates(log, { upTo: log.length, history: "hidden" })).toEqual([]);
    const rest = updates(log, { upTo: 8, history: "hidden" });
    const texts = textsOf(rest);
    expect(texts).toEqual(["look 🚀", "."]);
  });
});

describe("Response to a prompt", () => {
  const usage = {
    inputTokens: 1,
    outputTokens: 2,
    cacheReadTokens: 3,
    cacheWriteTokens: 4,
    totalTokens: 10,
  };

  it.each([
    [turnEnd(), "end_turn"],
    [turnEnd({ outcome: "cancelled", usage }), "cancelled"],
    [turnEnd({ outcome: "limited", reason: "max_tokens" }), "max_tokens"],
    [turnEnd({ outcome: "limited", reason: "model_context_window_exceeded" }), "max_tokens"],
    [turnEnd({ outcome: "limited", reason: "max_steps" }), "max_turn_requests"],
    [turnEnd({ outcome: "limited", reason: "constructor" }), "max_turn_requests"],
    [turnEnd({ outcome: "limited", reason: null }), "max_turn_requests"],
    [turnEnd({ outcome: "limited", reason: "guardrail_intervened" }), "refusal"],
  ])("The turn %o has the stop reason %s [ACP-69]", (turn, stopReason) => {
    expect(encodePromptOutcome(turn)).toEqual({ ok: true, result: { stopReason } });
  });

  it("The result has the token usage of the turn if it is known", () => {
    expect(encodePromptOutcome(turnEnd({ usage }))).toEqual({
      ok: true,
      result: {
        stopReason: "end_turn",
        usage: {
          inputTokens: 1,
          outputTokens: 2,
          cachedReadTokens: 3,
          cachedWriteTokens: 4,
          totalTokens: 10,
        },
      },
    });
  });

  it("A failed turn is an error with Spanline's code and details [ACP-70]", () => {
    const failure = { code: "throttled", message: "Too fast", details: { tries: 3 } } as const;
    expect(encodePromptOutcome(turnEnd({ outcome: "failed", failure }))).toEqual({
      ok: false,
      error: {
        code: -32603,
        message: "Too fast",
        data: { code: "throttled", message: "Too fast", tries: 3 },
      },
    });
  });

  it("A withdrawn prompt is cancelled", () => {
    const log = envelopes([{ type: "prompt.withdrawn", promptId: "p", reason: "asked" }]);
    expect(outputs(log).at(-1)).toEqual({
      type: "answer",
      promptId: "p",
      outcome: {
        ok: true,
        result: { stopReason: "cancelled", _meta: { harn: { queued: true } } },
      },
    });
  });
});
