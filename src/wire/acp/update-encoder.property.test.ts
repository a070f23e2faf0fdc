import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acpProblems } from "../../../test/support/acp-schema.ts";
import { acpOutputs } from "../../../test/support/acp-updates.ts";
import type { AgentEvent, ToolEnding } from "../../domain/agent-event.ts";
import { toolCall, toolError, toolSuccess } from "../../domain/tool.ts";
import { requestLine } from "../jsonrpc/write-message.ts";
import { agentEventLine } from "./agent-event.ts";
import { STOCK_CLIENT, type ClientProfile } from "./client-profile.ts";
import { SESSION_UPDATE_EXTENSIONS, TOOL_LIFECYCLE_FIELDS } from "./extensions.ts";
import { updateLine } from "./session-update.ts";
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
const said = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("", "<think>", "</think>", "\n<", "🚀".repeat(3000), "\u0001".repeat(9000)),
);
const ending = fc.constantFrom<ToolEnding>(
  ...(["succeeded", "failed", "denied", "cancelled"] as const),
  ...(["timed-out", "refused", "unknown", "server"] as const),
);
const named = fc.constantFrom("run", "edit", "nobody knows", "x".repeat(9000));
const diffs = fc.array(fc.record({ path: said, oldText: fc.option(said), newText: said }), {
  maxLength: 3,
});

const definition = {
  name: "a",
  provider: { name: "p", seams: [], effectFree: false, canStop: false },
  tools: (["run", "edit"] as const).map((name) => ({
    name,
    description: "",
    schema: {},
    idempotent: false,
    timeoutMs: 1,
    traits: { kind: name === "run" ? "execute" : "edit", sideEffect: "process_exec" } as const,
  })),
  approvals: { deny: [], ask: ["y".repeat(9000)], allow: [], otherwise: "ask" },
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

const anyEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.constant<AgentEvent>({ type: "agent.bound", digest: "d", definition }),
  fc.constant<AgentEvent>({ type: "turn.started", turnId: "turn_1", promptId: "p" }),
  fc.constant<AgentEvent>({ type: "usage.reported", usage }),
  fc.record({ type: fc.constant("session.titled" as const), title: said }),
  fc.record({ type: fc.constant("text.delta" as const), messageId, block, text: said }),
  fc.record({ type: fc.constant("text.finished" as const), messageId, block, text: said }),
  fc.record({ type: fc.constant("thought.delta" as const), messageId, block, text: said }),
  fc.record({ type: fc.constant("message.replaced" as const), messageId, text: said }),
  fc.record({ type: fc.constant("tool.input.delta" as const), toolCallId, text: said }),
  fc.record({ type: fc.constant("tool.progressed" as const), toolCallId, text: said }),
  fc.record({
    type: fc.constant("tool.announced" as const),
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
  fc.tuple(toolCallId, named, fc.dictionary(said, said)).map(([id, name, input]): AgentEvent => {
    const call = toolCall({ id: "c", name, inputText: JSON.stringify(input), runBy: "client" });
    return { type: "tool.called", toolCallId: id, messageId: "m1", block: 0, call };
  }),
  fc.tuple(toolCallId, ending, said, diffs).map(([id, how, text, changed]): AgentEvent => {
    const result = how === "succeeded" ? toolSuccess("c", text) : toolError("c", text);
    const beside = { diffs: changed, locations: changed.map(({ path }) => ({ path })) };
    return { type: "tool.finished", toolCallId: id, ending: how, result, beside };
  }),
  fc.tuple(toolCallId, said, diffs).map(([about, text, changed]): AgentEvent => {
    const asked = { approvalId: `a_${about}`, question: "run", options: ["allow"] } as const;
    const shown = { about, action: text, input: { text }, deadline: 0, diffs: changed };
    return { type: "approval.requested", ...asked, ...shown };
  }),
  fc.record({
    type: fc.constant("client.attached" as const),
    clientId: fc.constantFrom("me", "x", "y"),
    mode: fc.constantFrom("controller" as const, "observer" as const),
    name: said,
  }),
  fc.record({
    type: fc.constant("client.detached" as const),
    clientId: fc.constantFrom("x", "y"),
    reason: fc.constant("client_exit"),
  }),
  said.map((message): AgentEvent => {
    return { type: "diagnostic.raised", diagnostic: { code: "usage_invalid", message } };
  }),
);

const end: AgentEvent = {
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
      return updateLine("s", output.update);
    case "event":
      return agentEventLine("s", output.update);
    case "ask":
      return requestLine("q", output.request.method, output.request.params);
    default:
      return undefined;
  }
}

/** Throws where a call is heard of before it is shown, or after it has ended, or did not end. */
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

describe("whatever a session's log says", () => {
  it.each(PROFILES.map((profile, at) => [at, profile] as const))(
    "comes to lines that ACP knows and that are not too long, for client %i [B-016] [B-023] [ACP-135] [ACP-15]",
    (_, profile) => {
      fc.assert(
        fc.property(
          fc.array(anyEvent, { maxLength: 40 }),
          fc.nat(40),
          fc.constantFrom("shown" as const, "hidden" as const),
          (events, upTo, history) => {
            const bound: AgentEvent = { type: "agent.bound", digest: "d", definition };
            const options = { upTo, history, lineBytes: LINE_BYTES };
            const log = [bound, ...events, end];
            // The limit of permission requests is the client's.
            const reading = { ...profile, maxLineBytes: LINE_BYTES };
            const outputs = acpOutputs(log, reading, options);
            for (const output of outputs) {
              const line = lineOf(output);
              if (line === undefined) continue;
              expect(Buffer.byteLength(line)).toBeLessThanOrEqual(LINE_BYTES);
              const message = JSON.parse(line);
              const name = message.params.update?.sessionUpdate;
              const isVendor = SESSION_UPDATE_EXTENSIONS.includes(name) || name === "user_message";
              const isTaken = isVendor && profile.isBridgeHost;
              expect(isTaken ? [] : acpProblems(message)).toEqual([]);
            }
          },
        ),
      );
    },
  );

  it.each(PROFILES.map((profile, at) => [at, profile] as const))(
    "tells of a call only after its tool_call, and of its end once, for client %i [ACP-55] [ACP-91] [B-028]",
    (_, profile) => {
      fc.assert(
        fc.property(
          fc.array(anyEvent, { maxLength: 40 }),
          fc.nat(40),
          fc.constantFrom("shown" as const, "hidden" as const),
          (events, upTo, history) => {
            const log = [...events, end];
            const isWhole = history === "shown" || upTo < log.length;
            checkCalls(acpOutputs(log, profile, { upTo, history }), isWhole);
          },
        ),
      );
    },
  );
});
