import { parseJson } from "../../../domain/json.ts";
import type { Step, UsageStep } from "../../brains/step.ts";
import type { StreamEvent } from "../stream-event.ts";
import type { StrandsAgent } from "./agent.ts";
import { pythonMessage, tokenCounts } from "./python-message.ts";
import { Printed, pythonRepr, type PythonValue } from "./python-text.ts";

type PythonDict = { readonly [name: string]: PythonValue };

/** The state that a Strands agent drags along in every event that it merges from a delta. */
export interface PythonAgentState {
  /** The merged event of a delta, if the step is one. */
  merged(step: Step, event: StreamEvent): PythonDict[];
  /** A message is complete. */
  add(message: PythonDict, usage: UsageStep | null, reason: string | null): void;
  /** Results are in: the model is called again. */
  nextCycle(): void;
  /** The repr of the agent's result. */
  result(): string;
}

export function pythonAgentState(agent: StrandsAgent, ascii: boolean): PythonAgentState {
  const { random, settings } = agent;
  const object = (name: string): Printed =>
    new Printed(`<${name} object at 0x7f${random.hex(10)}>`);
  const self = object("strands.agent.agent.Agent");
  const model = object("strands.models.bedrock.BedrockModel");
  const messages: PythonDict[] = agent.messages.map((message) =>
    pythonMessage(message, ascii ? null : { usage: null, trackingId: random.uuid() }),
  );
  const cycles = [newCycle()];
  const usages: UsageStep[] = [];
  let last: PythonDict = {};
  let stopReason = "end_turn";
  let call = { id: "", name: "", json: "" };

  function newCycle(): { readonly id: string; readonly trace: Printed } {
    return { id: random.uuid(), trace: object("strands.telemetry.metrics.Trace") };
  }

  const state = (): PythonDict => {
    const cycle = cycles.at(-1);
    const parent = cycles.at(-2);
    const prompt = { system_prompt: settings.systemPrompt.join("\n") || null };
    return {
      agent: self,
      event_loop_cycle_id: uuid(cycle?.id),
      request_state: {},
      event_loop_cycle_trace: cycle?.trace ?? null,
      event_loop_cycle_span: SPAN,
      ...(parent === undefined
        ? {}
        : {
            model,
            ...(ascii ? prompt : {}),
            messages: [...messages],
            ...(ascii ? {} : prompt),
            tool_config: toolConfig(agent),
            event_loop_parent_cycle_id: uuid(parent.id),
          }),
    };
  };

  return {
    merged(step, event) {
      if (step.type === "call") call = { id: step.id, name: step.name, json: "" };
      if (event.name !== "contentBlockDelta") return [];
      if (step.type === "input") call.json += step.fragment;
      const merged = mergedDelta(step, { call, ascii });
      return merged === null ? [] : [{ ...merged, ...state() }];
    },
    add(message, usage, reason) {
      messages.push(message);
      last = message;
      if (usage !== null) usages.push(usage);
      if (reason !== null) stopReason = reason;
    },
    nextCycle: () => void cycles.push(newCycle()),
    result() {
      const total = totalOf(usages);
      const counts = pythonRepr(tokenCounts(total));
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
      const rest = ascii ? "" : ", interrupts=None, structured_output=None, checkpoint=None";
      return `AgentResult(stop_reason=${pythonRepr(stopReason)}, message=${pythonRepr(last)}, metrics=EventLoopMetrics(${metrics}), state={}${rest})`;
    },
  };
}

const SPAN = new Printed(
  "NonRecordingSpan(SpanContext(trace_id=0x00000000000000000000000000000000, span_id=0x0000000000000000, trace_flags=0x00, trace_state=[], is_remote=False))",
);

interface Merging {
  readonly call: { readonly id: string; readonly name: string; readonly json: string };
  readonly ascii: boolean;
}

function mergedDelta(step: Step, { call, ascii }: Merging): PythonDict | null {
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
        current_tool_use: { toolUseId: call.id, name: call.name, input: currentInput(call, ascii) },
      };
    default:
      return null;
  }
}

/** One object for all events of a call, printed late: its arguments may be ahead of the delta, and read already. */
function currentInput({ json }: Merging["call"], ascii: boolean): PythonValue {
  const parsed = parseJson(json);
  return !ascii && parsed.ok ? parsed.value : json;
}

function toolConfig({ settings }: StrandsAgent): PythonDict {
  const tools = settings.tools.map(({ name, description, inputSchema }) => ({
    toolSpec: { name, description, inputSchema: { json: inputSchema } },
  }));
  return { tools, toolChoice: { auto: {} } };
}

function uuid(id: string | undefined): Printed {
  return new Printed(`UUID('${id ?? ""}')`);
}

function totalOf(usages: readonly UsageStep[]): UsageStep {
  const sum = (pick: (usage: UsageStep) => number): number =>
    usages.reduce((total, usage) => total + pick(usage), 0);
  return {
    type: "usage",
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    latencyMilliseconds: sum(({ latencyMilliseconds }) => latencyMilliseconds),
  };
}
