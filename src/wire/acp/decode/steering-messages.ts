import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { InjectMode } from "../../../domain/events/steering-events.ts";
import { readWatchRequest } from "../../../domain/outputs/file-watch.ts";
import type { PendingInjectionView } from "../../../domain/pending-injection.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { formatPromptPart } from "../../../domain/prompt.ts";
import { accept, decodeSessionId, rejectParams, type DecodeResult } from "../json-fields.ts";
import { decodeReminder, rejectReminder } from "./decode-reminder.ts";
import { decodePrompt } from "./prompt-content.ts";

/** A client's request about messages and reminders for a running turn. */
export type SteeringRequest = SteeringSession &
  (
    | { readonly type: "steer"; readonly command: SteeringCommand; readonly answer: SteeringAnswer }
    | { readonly type: "pending-injections" }
  );

interface SteeringSession {
  /** Undefined if the request names none: it then means the only session of the connection. */
  readonly sessionId: string | undefined;
  /** The client's id of the request. A repeated request with the same id gets the response of the first. */
  readonly commandId?: string;
}

type SteeringCommand = Extract<
  SessionCommand,
  {
    type:
      | "inject"
      | "replace-inject"
      | "revoke-inject"
      | "remind"
      | "revoke-reminder"
      | "resume-daemon"
      | "cancel-tool-call"
      | "compact"
      | "watch-files"
      | "unwatch-files";
  }
>;

/** The form of the response. `outcome`: the form of `_session/steering`. */
type SteeringAnswer = "status" | "outcome";

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;

export function decodeInject(params: JsonObject): DecodeResult<SteeringRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const { mode } = params;
  if (!isInjectMode(mode)) return rejectParams('"mode" is not valid: expected "steer" or "queue"');
  const content = decodeInjectContent(params["content"]);
  if (!content.ok) return content;
  const command = { type: "inject", mode, content: content.value } as const;
  return accept({ type: "steer", sessionId: session.value, command, answer: "status" });
}

/** `_session/steering`, as editors send it: a prompt for the running turn. */
export function decodeSteering(params: JsonObject): DecodeResult<SteeringRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const content = decodePrompt(params["prompt"]);
  if (!content.ok) return content;
  const meta = params["_meta"];
  const steering = isObject(meta) && isObject(meta["steering"]) ? meta["steering"] : {};
  const onlyIntoTurn = steering["idleBehavior"] === "promptRequired" ? (true as const) : undefined;
  const command = {
    type: "inject",
    mode: "steer",
    content: content.value,
    ...omitUndefined({ onlyIntoTurn }),
  } as const;
  return accept({ type: "steer", sessionId: session.value, command, answer: "outcome" });
}

export function decodeReplaceInject(params: JsonObject): DecodeResult<SteeringRequest> {
  const reference = decodeReference(params, "messageId");
  if (!reference.ok) return reference;
  const content = decodeInjectContent(params["content"]);
  if (!content.ok) return content;
  const { sessionId, id: messageId } = reference.value;
  const command = { type: "replace-inject", messageId, content: content.value } as const;
  return accept({ type: "steer", sessionId, command, answer: "status" });
}

export function decodeRevokeInject(params: JsonObject): DecodeResult<SteeringRequest> {
  const reference = decodeReference(params, "messageId");
  if (!reference.ok) return reference;
  const { sessionId, id: messageId } = reference.value;
  const command = { type: "revoke-inject", messageId } as const;
  return accept({ type: "steer", sessionId, command, answer: "status" });
}

export function decodeRevokeReminder(params: JsonObject): DecodeResult<SteeringRequest> {
  const reference = decodeReference(params, "reminderId");
  if (!reference.ok) return reference;
  const { sessionId, id: reminderId } = reference.value;
  const command = { type: "revoke-reminder", reminderId } as const;
  return accept({ type: "steer", sessionId, command, answer: "status" });
}

export function decodePendingInjections(params: JsonObject): DecodeResult<SteeringRequest> {
  const session = decodeSessionId(params);
  return session.ok ? accept({ type: "pending-injections", sessionId: session.value }) : session;
}

/** Decodes `session/watch_files`. The session checks the paths and the patterns. */
export function decodeWatchFiles(params: JsonObject): DecodeResult<SteeringRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const watch = readWatchRequest(params);
  if (typeof watch === "string") return rejectParams(watch);
  const command = { type: "watch-files", ...watch } as const;
  return accept({ type: "steer", sessionId: session.value, command, answer: "status" });
}

export function decodeUnwatchFiles(params: JsonObject): DecodeResult<SteeringRequest> {
  const reference = decodeReference(params, "subscriptionId");
  if (!reference.ok) return reference;
  const { sessionId, id: subscriptionId } = reference.value;
  const command = { type: "unwatch-files", subscriptionId } as const;
  return accept({ type: "steer", sessionId, command, answer: "status" });
}

/** Decodes `agent/resume`. Without a session id, it means the only session of the connection. */
export function decodeResume(params: JsonObject): DecodeResult<SteeringRequest> {
  const session = params["sessionId"] === undefined ? accept(undefined) : decodeSessionId(params);
  if (!session.ok) return session;
  const command = { type: "resume-daemon" } as const;
  return accept({ type: "steer", sessionId: session.value, command, answer: "status" });
}

/** Decodes `session/cancel_tool_call`. `callId` and `toolCallId` are the same id; older hosts send `callId`. */
export function decodeCancelToolCall(params: JsonObject): DecodeResult<SteeringRequest> {
  const key = params["toolCallId"] === undefined ? "callId" : "toolCallId";
  const reference = decodeReference(params, key);
  if (!reference.ok) return reference;
  const { reason } = params;
  if (reason !== undefined && typeof reason !== "string")
    return rejectParams('"reason" is not valid: expected a string');
  const { sessionId, id: toolCallId } = reference.value;
  const command = {
    type: "cancel-tool-call",
    toolCallId,
    ...omitUndefined({ reason }),
  } as const;
  return accept({ type: "steer", sessionId, command, answer: "status" });
}

/** Decodes `session/remind`. The reminder is the params themselves, or nested under `reminder`. */
export function decodeRemind(params: JsonObject): DecodeResult<SteeringRequest> {
  const { sessionId, reminder: nested, mode, ...flat } = params;
  const session = sessionId === undefined ? accept(undefined) : decodeSessionId(params);
  if (!session.ok) return session;
  if (nested !== undefined && !isObject(nested))
    return rejectReminder("HARN-RMD-002", '"reminder" is not valid: expected an object');
  // `_meta` of the request has the request's id, `_meta` of the reminder has data of the host.
  const repeated = Object.keys(nested ?? {}).find(
    (key) => key !== "_meta" && key !== "sessionId" && Object.hasOwn(params, key),
  );
  if (repeated !== undefined)
    return rejectReminder("HARN-RMD-002", `"${repeated}" is given twice, once in "reminder"`);
  const spec = nested === undefined ? flat : { ...flat, ...nested };
  const decoded = decodeReminder({ ...spec, ...omitUndefined({ mode: mode ?? spec["mode"] }) });
  if (!decoded.ok) return decoded;
  const command = { type: "remind", ...decoded.value } as const;
  return accept({ type: "steer", sessionId: session.value, command, answer: "status" });
}

/** Encodes the response to an accepted request. */
export function encodeSteeringResult(
  reply: AcceptedReply,
  { command, answer }: Extract<SteeringRequest, { readonly type: "steer" }>,
): object {
  if (command.type === "cancel-tool-call") {
    const { toolCallStatus: status = "not_found", toolName: tool = null } = reply;
    return { status, callId: command.toolCallId, tool };
  }
  const { messageId, reminderId, compactionId, subscriptionId, deliveredAs } = reply;
  const { injectionStatus = "accepted" } = reply;
  if (answer === "outcome")
    return {
      outcome: STEERING_OUTCOMES[deliveredAs ?? "queue"],
      ...omitUndefined({ messageId }),
    };
  return {
    ...omitUndefined({ messageId, reminderId, compactionId, subscriptionId }),
    status: injectionStatus,
    ...omitUndefined({ deliveredAs }),
  };
}

const STEERING_OUTCOMES = {
  steer: "injected",
  queue: "queued",
  turn: "startedNewTurn",
} as const;

/** Encodes a refused `_session/steering`. A client without a running turn sends a prompt instead. */
export function encodeSteeringRefusal({ reason, message }: { reason: unknown; message: string }) {
  return reason === "no_running_turn"
    ? { outcome: "promptRequired" }
    : { outcome: "failed", reason: message };
}

/** Encodes the pending injections, in the order of their acceptance. */
export function encodePendingInjections(pending: readonly PendingInjectionView[]): object {
  const injections = pending.map((entry, position) => ({ ...encodeInjection(entry), position }));
  return { pendingCount: pending.length, injections };
}

function encodeInjection(entry: PendingInjectionView): object {
  const { id } = entry;
  if (entry.kind === "user") {
    const { mode } = entry;
    const content = entry.content.map((part) => ({ type: "text", text: formatPromptPart(part) }));
    return { kind: "user", id, messageId: id, mode, content };
  }
  const { body, tags, mode, dedupeKey, ttlTurns, roleHint, source, ...rest } = entry.reminder;
  return {
    kind: "reminder",
    id,
    reminderId: id,
    mode,
    body,
    tags,
    dedupeKey: dedupeKey ?? null,
    ttlTurns: ttlTurns ?? null,
    roleHint,
    source,
    preserveOnCompact: rest.preserveOnCompact ?? false,
    propagate: rest.propagate,
    firedAtTurn: rest.firedAtTurn ?? null,
    originatingAgentId: rest.originatingAgentId ?? null,
  };
}

function decodeInjectContent(content: JsonValue | undefined) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return Array.isArray(blocks)
    ? decodePrompt(blocks, "content")
    : rejectParams('"content" is not valid: expected a string or an array of content blocks');
}

function decodeReference(
  params: JsonObject,
  key: "messageId" | "reminderId" | "toolCallId" | "callId" | "subscriptionId",
): DecodeResult<{ readonly sessionId: string; readonly id: string }> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const id = params[key];
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_CHARACTERS)
    return rejectParams(
      `"${key}" is not a valid id: expected 1 to ${MAX_ID_CHARACTERS} characters`,
    );
  return accept({ sessionId: session.value, id });
}

const MAX_ID_CHARACTERS = 200;

function isInjectMode(value: JsonValue | undefined): value is InjectMode {
  return value === "steer" || value === "queue";
}
