import type { ToolEnding, ToolFinished } from "../../../../domain/events/tool-events.ts";
import { fitObject, fitText } from "../../fit-json.ts";
import type { TruncationNote } from "../permissions/encode-permission-request.ts";
import { encodeMutationRecord } from "../permissions/mutation-record.ts";
import type { ToolCallFields, ToolMeta } from "../acp-session-update.ts";
import { formatPart } from "./tool-content.ts";
import { resolveExecutor, type WireExecutor } from "./tool-lookup.ts";
import { narrowAgent, type UpdateState } from "../update-state.ts";
import { omitUndefined } from "../../../../data/omit-undefined.ts";

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
  readonly truncated?: Omit<TruncationNote, "fetch">;
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
export function encodeToolMeta(
  state: UpdateState,
  { terminal, ...fields }: MetaFields,
): Pick<ToolCallFields, "_meta"> {
  const { turn, options, lineBytes, getProfile } = state;
  const turnId = turn?.turnId ?? null;
  const { isBridgeHost } = getProfile();
  const mutationContext = { sessionId: options.sessionId, turnId, agent: narrowAgent(state) };
  const record = isBridgeHost ? encodeMutationRecord(mutationContext) : undefined;
  const audit = record === undefined ? {} : { audit: fitObject(record, lineBytes / 8) };
  const harn = { ...audit, ...fields };
  const meta = { ...(Object.keys(harn).length > 0 && { harn }), ...terminal };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** How a call ended, for programs. */
export function encodeEnding(state: UpdateState, event: ToolFinished, at: number): LifecycleFields {
  const { toolCallId, ending, durationMs, result } = event;
  const executor = ending === "server" ? "provider_native" : resolveExecutor(state, toolCallId);
  return {
    durationMs: computeDuration(state, toolCallId, at),
    ...omitUndefined({ executionDurationMs: durationMs }),
    ...(!isSuccessful(event) && {
      error: fitText(result.parts.map(formatPart).join("\n"), state.lineBytes / 32),
      errorCategory: resolveErrorCategory(ending, executor),
    }),
    ...(hasRun(ending) && executor !== undefined && { executor }),
  };
}

/** Never negative: clocks are put back. */
export function computeDuration(
  { toolCalls }: UpdateState,
  toolCallId: string,
  at: number,
): number {
  return Math.max(0, at - (toolCalls.get(toolCallId)?.openedAt ?? at));
}

export function isSuccessful({ ending, result }: ToolFinished): boolean {
  return (ending === "succeeded" || ending === "server") && !result.isError;
}

/** Of the others nobody was the executor. A cancelled call may have run, or not. */
export function hasRun(ending: ToolEnding): boolean {
  return ending !== "denied" && ending !== "refused" && ending !== "cancelled";
}

function resolveErrorCategory(
  ending: ToolEnding,
  executor: WireExecutor | undefined,
): ErrorCategory {
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
