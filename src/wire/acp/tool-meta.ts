import type { ToolEnding, ToolFinished } from "../../domain/agent-event.ts";
import { fittedObject, fittedText } from "./fitted.ts";
import type { Truncated } from "./permission-request.ts";
import { mutationRecord } from "./mutation-record.ts";
import type { ToolCallFields, ToolMeta } from "./session-update.ts";
import { partText } from "./tool-content.ts";
import { executorOf, type WireExecutor } from "./tool-facts.ts";
import { narrowedAgent, type UpdateState } from "./update-state.ts";

/** What hosts of the Harn bridge read of a call beside ACP's fields. */
export interface LifecycleFields {
  /** All the time, from asking for it to its end, with the waiting for people. */
  readonly durationMs?: number;
  /** The time that the tool itself took. */
  readonly executionDurationMs?: number;
  readonly error?: string;
  readonly errorCategory?: ErrorCategory;
  readonly executor?: WireExecutor;
  /** Whether its arguments are still coming. */
  readonly parsing?: boolean;
  /** Those that have come, as text: it need not be JSON yet. */
  readonly rawInputPartial?: string;
  /** Present if `rawInput` is a preview. */
  readonly truncated?: Omit<Truncated, "fetch">;
}

/** With what an editor's terminal is fed. */
export interface MetaFields extends LifecycleFields {
  readonly terminal?: Omit<ToolMeta, "harn">;
}

type ErrorCategory =
  | "schema_validation"
  | "tool_error"
  | "mcp_server_error"
  | "host_bridge_error"
  | "permission_denied"
  | "parse_aborted"
  | "timeout"
  | "cancelled"
  | "unknown";

/** The `_meta` of an update of a call: to hosts which writing session it belongs to, and what else there is to say. */
export function toolMeta(
  state: UpdateState,
  { terminal, ...fields }: MetaFields,
): Pick<ToolCallFields, "_meta"> {
  const { turn, options, lineBytes, profile } = state;
  const turnId = turn?.turnId ?? null;
  const { isBridgeHost } = profile();
  const place = { sessionId: options.sessionId, turnId, agent: narrowedAgent(state) };
  const record = isBridgeHost ? mutationRecord(place) : undefined;
  const audit = record === undefined ? {} : { audit: fittedObject(record, lineBytes / 8) };
  const harn = { ...audit, ...fields };
  const meta = { ...(Object.keys(harn).length > 0 && { harn }), ...terminal };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** How a call ended, for programs. */
export function endingFields(state: UpdateState, event: ToolFinished, at: number): LifecycleFields {
  const { toolCallId, ending, durationMs, result } = event;
  const executor = ending === "server" ? "provider_native" : executorOf(state, toolCallId);
  return {
    durationMs: durationOf(state, toolCallId, at),
    ...(durationMs !== undefined && { executionDurationMs: durationMs }),
    ...(!isDone(event) && {
      error: fittedText(result.parts.map(partText).join("\n"), state.lineBytes / 32),
      errorCategory: categoryOf(ending, executor),
    }),
    ...(wasRun(ending) && executor !== undefined && { executor }),
  };
}

/** Never negative: clocks are put back. */
export function durationOf({ calls }: UpdateState, toolCallId: string, at: number): number {
  return Math.max(0, at - (calls.get(toolCallId)?.at ?? at));
}

export function isDone({ ending, result }: ToolFinished): boolean {
  return (ending === "succeeded" || ending === "server") && !result.isError;
}

/** Of the others nobody was the executor. A cancelled call may have run, or not. */
export function wasRun(ending: ToolEnding): boolean {
  return ending !== "denied" && ending !== "refused" && ending !== "cancelled";
}

function categoryOf(ending: ToolEnding, executor: WireExecutor | undefined): ErrorCategory {
  switch (ending) {
    case "denied":
      return "permission_denied";
    case "cancelled":
      return "cancelled";
    case "timed-out":
      return "timeout";
    case "refused":
      return "schema_validation";
    case "unknown":
      return "unknown";
    case "succeeded":
    case "failed":
    case "server":
      if (executor === "host_bridge") return "host_bridge_error";
      return typeof executor === "object" ? "mcp_server_error" : "tool_error";
  }
}
