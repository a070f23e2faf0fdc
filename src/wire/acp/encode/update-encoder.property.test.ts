import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findAcpProblems } from "../../../../test/support/acp/acp-schema.ts";
import { encodeAcpOutputs } from "../../../../test/support/acp/encode-acp-updates.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import type { ToolEnding } from "../../../domain/events/tool-events.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../domain/tools/tool-call.ts";
import { encodeRequestLine } from "../../jsonrpc/rpc-line.ts";
import { encodeAgentEventLine } from "./line-cache.ts";
import { STOCK_CLIENT, type ClientProfile } from "../decode/client-profile.ts";
import { SESSION_UPDATE_EXTENSIONS, TOOL_LIFECYCLE_FIELDS } from "./harn-extensions.ts";
import { encodeUpdateLine } from "./acp-session-update.ts";
import type { AcpOutput } from "./update-state.ts";

const PROFILES: readonly ClientProfile[] = [
  STOCK_CLIENT,
  { ...STOCK_CLIENT, showsTerminalOutput: true },
  { ...STOCK_CLIENT, isBridgeHost: true, showsTerminalOutput: true },
];

const LINE_BYTES = 8192;

const toolCallId = fc.constantFrom("t1", "t2", "t3");
const messageId = fc.constantFrom("m1", "m2");
const block = fc.nat(2);
const textEvents = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "<think>", "</think>", "\n<", "🚀".repeat(3000), "\u0001".repeat(9000)),
);
const ending = fc.constantFrom<ToolEnding>(
  ...(["succeeded", "failed", "denied", "cancelled"] as const),
  ...(["timed-out", "refused", "unknown", "server"] as const),
);
const named = fc.constantFrom("run", "edit", "nobody knows", "x".repeat(9000));
const diffs = fc.array(
  fc.record({ path: textEvents, oldText: fc.option(textEvents), newText: textEvents }),
  {
    maxLength: 3,
  },
);

const spec = {
  name: "a",
  provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
  tools: (["run", "edit"] as const).map((name) => ({
    name,
    description: "",
    schema: {},
    idempotent: false,
    timeoutMs: 1,
    traits: { kind: name === "run" ? "execute" : "edit", sideEffect: "process_exec" } as const,
  })),
  approvals: { deny: [], ask: ["y".repeat(9000)], allow: [], default: "ask" },
  mutationScope: "apply_workspace",
  contextTokens: 1000,
  caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
  onLost: "ask",
  settle: "wait",
  approvalMs: 1,
} as const;

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 2,
};

const anyEvent: fc.Arbitrary<SessionEvent> = fc.oneof(
  fc.constant<SessionEvent>({ type: "agent.configured", digest: "d", spec }),
  fc.constant<SessionEvent>({ type: "turn.started", turnId: "turn_1", promptId: "p" }),
  fc.constant<SessionEvent>({ type: "usage.reported", usage }),
  fc.record({ type: fc.constant("session.title_changed" as const), title: textEvents }),
  fc.record({ type: fc.constant("text.delta" as const), messageId, block, text: textEvents }),
  fc.record({ type: fc.constant("text.finished" as const), messageId, block, text: textEvents }),
  fc.record({ type: fc.constant("thought.delta" as const), messageId, block, text: textEvents }),
  fc.record({ type: fc.constant("message.replaced" as const), messageId, text: textEvents }),
  fc.record({ type: fc.constant("tool_call.input.delta" as const), toolCallId, text: textEvents }),
  fc.record({ type: fc.constant("tool.progress" as const), toolCallId, text: textEvents }),
  fc.record({
    type: fc.constant("tool_call.opened" as const),
    toolCallId,
    messageId,
    block,
    name: named,
  }),
  fc.record({
    type: fc.constant("tool.started" as const),
    toolCallId,
    attempt: fc.constant(1),
    digest: fc.constant("d"),
  }),
  fc
    .tuple(toolCallId, named, fc.dictionary(textEvents, textEvents))
    .map(([id, name, input]): SessionEvent => {
      const call = createToolCall({
        id: "c",
        name,
        inputText: JSON.stringify(input),
        runBy: "client",
      });
      return {
        type: "tool_call.received",
        toolCallId: id,
        messageId: "m1",
        block: 0,
        toolCall: call,
      };
    }),
  fc.tuple(toolCallId, ending, textEvents, diffs).map(([id, how, text, changed]): SessionEvent => {
    const result = how === "succeeded" ? createToolSuccess("c", text) : createToolError("c", text);
    const attachments = { diffs: changed, locations: changed.map(({ path }) => ({ path })) };
    return { type: "tool.finished", toolCallId: id, ending: how, result, attachments };
  }),
  fc.tuple(toolCallId, textEvents, diffs).map(([subjectId, text, changed]): SessionEvent => {
    const requestFields = {
      approvalId: `a_${subjectId}`,
      question: "run",
      options: ["allow"],
    } as const;
    const contentFields = { subjectId, action: text, input: { text }, deadline: 0, diffs: changed };
    return { type: "approval.requested", ...requestFields, ...contentFields };
  }),
  fc.record({
    type: fc.constant("client.attached" as const),
    clientId: fc.constantFrom("me", "x", "y"),
    mode: fc.constantFrom("controller" as const, "observer" as const),
    name: textEvents,
  }),
  fc.record({
    type: fc.constant("client.detached" as const),
    clientId: fc.constantFrom("x", "y"),
    reason: fc.constant("client_exit"),
  }),
  textEvents.map((message): SessionEvent => {
    return { type: "diagnostic.raised", diagnostic: { code: "usage_invalid", message } };
  }),
);

const end: SessionEvent = {
  type: "turn.finished",
  turnId: "turn_1",
  outcome: "cancelled",
  reason: null,
  usage: null,
  steps: 1,
};

function lineOf(output: AcpOutput): string | undefined {
  switch (output.type) {
    case "update":
      return encodeUpdateLine("s", output.update);
    case "event":
      return encodeAgentEventLine("s", output.update);
    case "ask":
      return output.request === undefined
        ? undefined
        : encodeRequestLine("q", output.request.method, output.request.params);
    default:
      return undefined;
  }
}

/** Fails if a tool call has an update before its `tool_call` or after its end, or if it does not end. */
function checkCalls(outputs: readonly AcpOutput[], isWhole: boolean): void {
  const states = new Map<string, string>();
  for (const output of outputs) {
    const update = Object(output).update ?? {};
    const { sessionUpdate, toolCallId: id, status } = update;
    if (sessionUpdate !== "tool_call" && sessionUpdate !== "tool_call_update") continue;
    expect(states.has(id)).toBe(sessionUpdate === "tool_call_update");
    expect(["completed", "failed"]).not.toContain(states.get(id));
    states.set(id, status ?? states.get(id));
    for (const field of TOOL_LIFECYCLE_FIELDS) expect(update).not.toHaveProperty(field);
  }
  if (!isWhole) return;
  for (const state of states.values()) expect(["completed", "failed"]).toContain(state);
}

describe("Any session log", () => {
  it.each(PROFILES.map((profile, at) => [at, profile] as const))(
    "Every line is valid ACP and within the line limit for client %i [B-016] [B-023] [ACP-135] [ACP-15]",
    (_, profile) => {
      fc.assert(
        fc.property(
          fc.array(anyEvent, { maxLength: 40 }),
          fc.nat(40),
          fc.constantFrom("shown" as const, "hidden" as const),
          (events, upTo, history) => {
            const bound: SessionEvent = { type: "agent.configured", digest: "d", spec };
            const options = { upTo, history, lineBytes: LINE_BYTES };
            const log = [bound, ...events, end];
            // The line limit of permission requests is the client's limit.
            const reading = { ...profile, maxLineBytes: LINE_BYTES };
            const outputs = encodeAcpOutputs(log, reading, options);
            for (const output of outputs) {
              const line = lineOf(output);
              if (line === undefined) continue;
              expect(Buffer.byteLength(line)).toBeLessThanOrEqual(LINE_BYTES);
              const message = JSON.parse(line);
              const name = message.params.update?.sessionUpdate;
              const isVendor = SESSION_UPDATE_EXTENSIONS.includes(name) || name === "user_message";
              const isTaken = isVendor && profile.isBridgeHost;
              expect(isTaken ? [] : findAcpProblems(message)).toEqual([]);
            }
          },
        ),
      );
    },
  );

  it.each(PROFILES.map((profile, at) => [at, profile] as const))(
    "A tool call starts with tool_call and ends once for client %i [ACP-55] [ACP-91] [B-028]",
    (_, profile) => {
      fc.assert(
        fc.property(
          fc.array(anyEvent, { maxLength: 40 }),
          fc.nat(40),
          fc.constantFrom("shown" as const, "hidden" as const),
          (events, upTo, history) => {
            const log = [...events, end];
            const isWhole = history === "shown" || upTo < log.length;
            checkCalls(encodeAcpOutputs(log, profile, { upTo, history }), isWhole);
          },
        ),
      );
    },
  );
});
