import { parseJson } from "../../../data/json.ts";
import type { Step, UsageStep } from "../../brains/step.ts";
import type { StreamEvent } from "../turn/stream-event-encoder.ts";
import type { StrandsAgent } from "./strands-agent.ts";
import { encodePythonMessage, encodeTokenCounts } from "./python-message.ts";
import { PythonRepr, formatPythonRepr, type PythonValue } from "./python-text.ts";

type PythonDict = { readonly [name: string]: PythonValue };

/** The agent state that Strands includes in every event merged from a delta. */
export interface PythonAgentState {
  /** The merged event of a delta. Empty for other steps. */
  mergeEvent(step: Step, event: StreamEvent): PythonDict[];
  /** Adds a complete message. */
  addMessage(message: PythonDict, usage: UsageStep | null, reason: string | null): void;
  /** Starts a new model call after tool results. */
  startCycle(): void;
  /** The repr of the agent's result. */
  formatResult(): string;
}

export function createPythonAgentState(agent: StrandsAgent, ascii: boolean): PythonAgentState {
  const { random, settings } = agent;
  const formatObject = (name: string): PythonRepr =>
    new PythonRepr(`<${name} object at 0x7f${random.hex(10)}>`);
  const self = formatObject("strands.agent.agent.Agent");
  const model = formatObject("strands.models.bedrock.BedrockModel");
  const messages: PythonDict[] = agent.messages.map((message) =>
    encodePythonMessage(message, ascii ? null : { usage: null, trackingId: random.uuid() }),
  );
  const cycles = [newCycle()];
  const usages: UsageStep[] = [];
  let last: PythonDict = {};
  let stopReason = "end_turn";
  let call = { id: "", name: "", json: "" };

  function newCycle(): { readonly id: string; readonly trace: PythonRepr } {
    return { id: random.uuid(), trace: formatObject("strands.telemetry.metrics.Trace") };
  }

  const state = (): PythonDict => {
    const cycle = cycles.at(-1);
    const parent = cycles.at(-2);
    const prompt = { system_prompt: settings.systemPrompt.join("\n") || null };
    return {
      agent: self,
      event_loop_cycle_id: formatUuid(cycle?.id),
      request_state: {},
      event_loop_cycle_trace: cycle?.trace ?? null,
      event_loop_cycle_span: TRACE_SPAN,
      ...(parent === undefined
        ? {}
        : {
            model,
            ...(ascii ? prompt : {}),
            messages: [...messages],
            ...(ascii ? {} : prompt),
            tool_config: encodeToolConfig(agent),
            event_loop_parent_cycle_id: formatUuid(parent.id),
          }),
    };
  };

  return {
    mergeEvent(step, event) {
      if (step.type === "call") call = { id: step.id, name: step.name, json: "" };
      if (event.name !== "contentBlockDelta") return [];
      if (step.type === "input") call.json += step.fragment;
      const merged = mergeDelta(step, { call, ascii });
      return merged === null ? [] : [{ ...merged, ...state() }];
    },
    addMessage(message, usage, reason) {
      messages.push(message);
      last = message;
      if (usage !== null) usages.push(usage);
      if (reason !== null) stopReason = reason;
    },
    startCycle: () => void cycles.push(newCycle()),
    formatResult: () => formatAgentResult({ cycles, usages, stopReason, last }, ascii),
  };
}

interface AgentResult {
  readonly cycles: readonly { readonly trace: PythonRepr }[];
  readonly usages: readonly UsageStep[];
  readonly stopReason: string;
  /** The last message. */
  readonly last: PythonDict;
}

function formatAgentResult(
  { cycles, usages, stopReason, last }: AgentResult,
  ascii: boolean,
): string {
  const total = sumUsage(usages);
  const counts = formatPythonRepr(encodeTokenCounts(total));
  const traces = cycles.map(({ trace }) => trace.text).join(", ");
  const metrics = [
    `cycle_count=${cycles.length}`,
    "tool_metrics={}",
    `cycle_durations=[${cycles.map(() => "0.001").join(", ")}]`,
    ...(ascii ? [] : [`agent_invocations=[AgentInvocation(cycles=[], usage=${counts})]`]),
    `traces=[${traces}]`,
    `accumulated_usage=${counts}`,
    `accumulated_metrics={'latencyMs': ${total.latencyMilliseconds}}`,
  ].join(", ");
  const suffix = ascii ? "" : ", interrupts=None, structured_output=None, checkpoint=None";
  return `AgentResult(stop_reason=${formatPythonRepr(stopReason)}, message=${formatPythonRepr(last)}, metrics=EventLoopMetrics(${metrics}), state={}${suffix})`;
}

const TRACE_SPAN = new PythonRepr(
  "NonRecordingSpan(SpanContext(trace_id=0x00000000000000000000000000000000, span_id=0x0000000000000000, trace_flags=0x00, trace_state=[], is_remote=False))",
);

interface MergeContext {
  readonly call: { readonly id: string; readonly name: string; readonly json: string };
  readonly ascii: boolean;
}

function mergeDelta(step: Step, { call, ascii }: MergeContext): PythonDict | null {
  switch (step.type) {
    case "text":
      return { data: step.text, delta: { text: step.text } };
    case "reasoning":
      return {
        reasoningText: step.text,
        delta: { reasoningContent: { text: step.text } },
        reasoning: true,
      };
    case "signature":
      return {
        reasoning_signature: step.signature,
        delta: { reasoningContent: { signature: step.signature } },
        reasoning: true,
      };
    case "redacted": {
      const redactedContent = new Uint8Array(Buffer.from(step.base64, "base64"));
      return {
        reasoningRedactedContent: redactedContent,
        delta: { reasoningContent: { redactedContent } },
        reasoning: true,
      };
    }
    case "input":
      return {
        ...(ascii ? {} : { type: "tool_use_stream" }),
        delta: { toolUse: { input: step.fragment } },
        current_tool_use: {
          toolUseId: call.id,
          name: call.name,
          input: readCurrentInput(call, ascii),
        },
      };
    default:
      return null;
  }
}

/**
 * The arguments of the current tool call. Strands reuses a single object for all events of a tool call and prints it
 * late, so the arguments may be ahead of the delta and already parsed.
 */
function readCurrentInput({ json }: MergeContext["call"], ascii: boolean): PythonValue {
  const parsed = parseJson(json);
  return !ascii && parsed.ok ? parsed.value : json;
}

function encodeToolConfig({ settings }: StrandsAgent): PythonDict {
  const tools = settings.tools.map(({ name, description, inputSchema }) => ({
    toolSpec: { name, description, inputSchema: { json: inputSchema } },
  }));
  return { tools, toolChoice: { auto: {} } };
}

function formatUuid(id: string | undefined): PythonRepr {
  return new PythonRepr(`UUID('${id ?? ""}')`);
}

function sumUsage(usages: readonly UsageStep[]): UsageStep {
  const sum = (pick: (usage: UsageStep) => number): number =>
    usages.reduce((total, usage) => total + pick(usage), 0);
  return {
    type: "usage",
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    latencyMilliseconds: sum(({ latencyMilliseconds }) => latencyMilliseconds),
  };
}
