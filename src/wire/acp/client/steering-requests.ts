import type { JsonObject } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { InjectMode } from "../../../domain/events/steering-events.ts";
import type {
  ReminderAuthority,
  ReminderMode,
  ReminderPropagation,
  ReminderRole,
} from "../../../domain/reminder.ts";
import { readObject } from "../json-fields.ts";
import type { AgentRequest } from "./agent-requests.ts";
import type { PromptBlock } from "./prompt-block.ts";

/** A message for a running turn, or for a separate turn. */
export interface InjectedMessage {
  readonly content: string | readonly PromptBlock[];
  /**
   * `steer`: the next injection point of the running turn. `queue`: a separate turn after the running turn. Default:
   * `steer`.
   */
  readonly mode?: InjectMode;
}

/** Context for the agent which is not a message of the user. */
export interface ReminderOptions {
  readonly body: string;
  readonly tags?: readonly string[];
  /** Default: `finish_step`, the next request to the model. */
  readonly mode?: ReminderMode;
  /** A newer reminder with the same key replaces a pending one. */
  readonly dedupeKey?: string;
  /** Number of turns after whose end the reminder expires. Default: it does not expire. */
  readonly ttlTurns?: number;
  /** Default: `system`. */
  readonly roleHint?: ReminderRole;
  /** Default: `contract`. */
  readonly authority?: ReminderAuthority;
  /** Default: `session`. */
  readonly propagate?: ReminderPropagation;
  readonly preserveOnCompact?: boolean;
  readonly metadata?: JsonObject;
}

/** `commandId`: the client's id of the request, which makes it safe to repeat. */
export function encodeInjectRequest(
  sessionId: string,
  { content, mode = "steer" }: InjectedMessage,
  commandId: string,
): AgentRequest {
  const params = { sessionId, mode, content };
  return { method: "session/inject", params: { ...params, ...encodeCommandId(commandId) } };
}

export function encodeReplaceInjectRequest(
  sessionId: string,
  messageId: string,
  content: InjectedMessage["content"],
): AgentRequest {
  const params = { sessionId, messageId, content };
  return { method: "session/replace_inject", params };
}

export function encodeRevokeInjectRequest(sessionId: string, messageId: string): AgentRequest {
  return { method: "session/revoke_inject", params: { sessionId, messageId } };
}

export function encodeRemindRequest(
  sessionId: string,
  reminder: ReminderOptions,
  commandId: string,
): AgentRequest {
  const { body, tags, mode, roleHint, authority, propagate, metadata } = reminder;
  const { harn, ...meta } = metadata ?? {};
  return {
    method: "session/remind",
    params: {
      sessionId,
      body,
      ...omitUndefined({
        tags,
        mode,
        authority,
        propagate,
        dedupe_key: reminder.dedupeKey,
        ttl_turns: reminder.ttlTurns,
        role_hint: roleHint,
        preserve_on_compact: reminder.preserveOnCompact,
      }),
      _meta: { ...meta, harn: { ...readObject(harn), commandId } },
    },
  };
}

export function encodeRevokeReminderRequest(sessionId: string, reminderId: string): AgentRequest {
  return { method: "session/revoke_reminder", params: { sessionId, reminderId } };
}

export function encodePendingInjectionsRequest(sessionId: string): AgentRequest {
  return { method: "session/pending_injections", params: { sessionId } };
}

export function encodeResumeRequest(sessionId: string, commandId: string): AgentRequest {
  return { method: "agent/resume", params: { sessionId, ...encodeCommandId(commandId) } };
}

/** Files which a client watches. */
export interface WatchedFiles {
  /** Files and folders of the workspace, with their subfolders. Default: the whole workspace. */
  readonly paths?: readonly string[];
  /** Only paths which match one of the patterns. Default: all paths. */
  readonly globs?: readonly string[];
}

export function encodeWatchFilesRequest(
  sessionId: string,
  { paths, globs }: WatchedFiles,
  commandId: string,
): AgentRequest {
  const params = { sessionId, ...omitUndefined({ paths, globs }), ...encodeCommandId(commandId) };
  return { method: "session/watch_files", params };
}

export function encodeUnwatchFilesRequest(sessionId: string, subscriptionId: string): AgentRequest {
  return { method: "session/unwatch_files", params: { sessionId, subscriptionId } };
}

function encodeCommandId(commandId: string): JsonObject {
  return { _meta: { harn: { commandId } } };
}
