import type {
  ToolAnnounced,
  ToolCalled,
  ToolEnding,
  ToolFacts,
  ToolFinished,
  ToolProgressed,
  ToolStarted,
  TurnPaused,
} from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import { jsonText } from "../../domain/json.ts";
import type { ToolResultPart } from "../../domain/tool.ts";
import { absolutePath } from "./absolute-path.ts";
import { diffContent } from "./diff-content.ts";
import { mutationRecord } from "./mutation-record.ts";
import type { ToolCallFields } from "./session-update.ts";
import { tell, workspaceOf, type AcpOutput, type UpdateState } from "./update-state.ts";

export function announced(state: UpdateState, event: ToolAnnounced, emit: Emit<AcpOutput>): void {
  const { toolCallId, name } = event;
  state.toolNames.set(toolCallId, name);
  show(state, { toolCallId, title: name, ...kindOf(state, name) }, emit);
}

/** A call that could not be read is shown as it was streamed. */
export function called(state: UpdateState, event: ToolCalled, emit: Emit<AcpOutput>): void {
  const { toolCallId, call } = event;
  const { name, input, inputText } = call;
  state.toolNames.set(toolCallId, name);
  const kind = kindOf(state, name);
  show(state, { toolCallId, title: name, ...kind, rawInput: input ?? inputText }, emit);
}

export function started(state: UpdateState, event: ToolStarted, emit: Emit<AcpOutput>): void {
  update(state, { toolCallId: event.toolCallId, status: "in_progress" }, emit);
}

/** Somebody else is at these. */
export function handedOut(state: UpdateState, event: TurnPaused, emit: Emit<AcpOutput>): void {
  for (const toolCallId of event.toolCallIds) {
    update(state, { toolCallId, status: "in_progress" }, emit);
  }
}

export function progressed(state: UpdateState, event: ToolProgressed, emit: Emit<AcpOutput>): void {
  const { toolCallId, text } = event;
  const executor = executorOf(state, toolCallId);
  update(state, { toolCallId, content: [textContent(text)] }, emit, executor);
}

/** ACP knows no end but these two: denied, cancelled and the rest are failed calls, and say so in their content. */
export function finished(state: UpdateState, event: ToolFinished, emit: Emit<AcpOutput>): void {
  const { toolCallId, ending, result, beside = {} } = event;
  const { data, diffs = [], locations = [] } = beside;
  const workspace = workspaceOf(state);
  const isDone = (ending === "succeeded" || ending === "server") && !result.isError;
  const fields: ToolCallFields = {
    toolCallId,
    status: isDone ? "completed" : "failed",
    content: [
      ...diffs.map((diff) => diffContent(diff, workspace)),
      ...result.parts.map((part) => textContent(partText(part))),
    ],
    ...(locations.length > 0 && {
      locations: locations.map((one) => ({ ...one, path: absolutePath(one.path, workspace) })),
    }),
    rawOutput: data ?? rawOutput(result.parts),
  };
  const wasRun = !NEVER_RUN.has(ending);
  const executor = ending === "server" ? "provider_native" : executorOf(state, toolCallId);
  update(state, fields, emit, wasRun ? executor : undefined);
  state.calls.delete(toolCallId);
  state.toolNames.delete(toolCallId);
}

/** Of these nobody was the executor. A cancelled call may have run, or not. */
const NEVER_RUN: ReadonlySet<ToolEnding> = new Set(["denied", "refused", "cancelled"] as const);

/** No call is left as if it went on: not after a cancel, and not after a crash. */
export function closeCalls(state: UpdateState, emit: Emit<AcpOutput>): void {
  for (const toolCallId of state.calls) update(state, { toolCallId, status: "failed" }, emit);
  state.calls.clear();
}

/** The first word about a call is its `tool_call`. */
function show(state: UpdateState, fields: ToolCallFields, emit: Emit<AcpOutput>): void {
  if (state.calls.has(fields.toolCallId)) return update(state, fields, emit);
  state.calls.add(fields.toolCallId);
  const meta = metaOf(state);
  tell(state, { sessionUpdate: "tool_call", ...fields, status: "pending", ...meta }, emit);
}

/** Clients drop an update of a call that they do not know, so such a call is shown first. */
function update(
  state: UpdateState,
  fields: ToolCallFields,
  emit: Emit<AcpOutput>,
  executor?: WireExecutor,
): void {
  const { toolCallId } = fields;
  if (!state.calls.has(toolCallId)) show(state, { toolCallId, title: toolCallId }, emit);
  tell(state, { sessionUpdate: "tool_call_update", ...fields, ...metaOf(state, executor) }, emit);
}

/** What hosts of the Harn bridge read: which writing session a call belongs to, and who ran it. */
function metaOf(state: UpdateState, executor?: WireExecutor): Pick<ToolCallFields, "_meta"> {
  const { agent, turn, options } = state;
  const turnId = turn?.turnId ?? null;
  const audit = mutationRecord({ sessionId: options.sessionId, turnId, agent });
  if (audit === undefined && executor === undefined) return {};
  const fields = {
    ...(audit !== undefined && { audit }),
    ...(executor !== undefined && { executor }),
  };
  return { _meta: { harn: fields } };
}

type WireExecutor =
  | "harn_builtin"
  | "host_bridge"
  | "provider_native"
  | { readonly kind: "mcp_server"; readonly serverName: string };

/** Undefined for a tool that the agent's definition does not know: it did not run here. */
function executorOf(state: UpdateState, toolCallId: string): WireExecutor | undefined {
  const tool = toolNamed(state, state.toolNames.get(toolCallId));
  if (tool === undefined) return undefined;
  const executor = tool.traits?.executor ?? { type: "builtin" };
  switch (executor.type) {
    case "builtin":
      return "harn_builtin";
    case "host":
      return "host_bridge";
    case "mcp":
      return { kind: "mcp_server", serverName: executor.server };
    case "provider":
      return "provider_native";
    default:
      return executor satisfies never;
  }
}

function kindOf(state: UpdateState, name: string): Pick<ToolCallFields, "kind"> {
  const kind = toolNamed(state, name)?.traits?.kind;
  return kind === undefined ? {} : { kind };
}

function toolNamed({ agent }: UpdateState, name: string | undefined): ToolFacts | undefined {
  return agent?.tools.find((tool) => tool.name === name);
}

function rawOutput(parts: readonly ToolResultPart[]): unknown {
  const values = parts.map(partValue);
  return values.length === 1 ? values[0] : values;
}

function partValue(part: ToolResultPart): unknown {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return part.value;
    case "unknown":
      return part.raw;
  }
}

function partText(part: ToolResultPart): string {
  return part.type === "text" ? part.text : jsonText(partValue(part));
}

function textContent(text: string): NonNullable<ToolCallFields["content"]>[number] {
  return { type: "content", content: { type: "text", text } };
}
