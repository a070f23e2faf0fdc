import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { LiveClient, ClientStatus } from "../../../domain/live-client.ts";
import { acceptValue, rejectValue, type ReadResult } from "../host/read-result.ts";
import {
  readObject,
  readHarnMeta,
  readNumber,
  readObjects,
  readString,
  readStrings,
} from "../json-fields.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import {
  readSessionModes,
  readConfigOptions,
  type ConfigOption,
  type SessionModes,
} from "./session-settings.ts";

/** A session as the agent answers for it. */
export interface OpenedSession {
  readonly sessionId: string;
  /** Null where the agent has none. */
  readonly modes: SessionModes | null;
  readonly options: readonly ConfigOption[];
  /** What the client has been told up to here, for going on from it; absent where the agent says no such thing. */
  readonly cursor?: string;
}

/** `known` is the session's id where the client said it; the answer need not repeat it. */
export function readOpenedSession(
  result: JsonValue,
  knownSessionId?: string,
): ReadResult<OpenedSession> {
  const { sessionId, modes, configOptions } = readObject(result);
  const id = knownSessionId ?? readString(sessionId);
  if (id === undefined || id === "") return rejectValue('it has no "sessionId"');
  return acceptValue({
    sessionId: id,
    modes: readSessionModes(modes),
    options: readConfigOptions(configOptions),
    ...omitUndefined({ cursor: readString(readHarnMeta(result)["cursor"]) }),
  });
}

export interface SessionPage {
  readonly sessions: readonly SessionRow[];
  /** Where the next page begins; absent on the last. */
  readonly nextPage?: string;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly workingDirectory: string | null;
  /** Those that it works in beside that one. */
  readonly folders: readonly string[];
  readonly title: string | null;
  readonly updatedAt: string | null;
}

export function readSessionPage(result: JsonValue): ReadResult<SessionPage> {
  const { sessions, nextCursor } = readObject(result);
  if (!Array.isArray(sessions)) return rejectValue("it has no list of sessions");
  return acceptValue({
    sessions: readObjects(sessions).flatMap((row) => readSessionRow(row) ?? []),
    ...(typeof nextCursor === "string" && { nextPage: nextCursor }),
  });
}

function readSessionRow(row: JsonObject): SessionRow | undefined {
  const { sessionId, cwd, additionalDirectories, title, updatedAt } = row;
  if (typeof sessionId !== "string") return undefined;
  return {
    sessionId,
    workingDirectory: readString(cwd) ?? null,
    folders: readStrings(additionalDirectories),
    title: readString(title) ?? null,
    updatedAt: readString(updatedAt) ?? null,
  };
}

/** How a turn ended. */
export interface PromptResult {
  /** `end_turn`, `max_tokens`, `max_turn_requests`, `refusal`, `cancelled`, or a later word. */
  readonly reason: string;
  /** Null where the agent does not say it. */
  readonly usage: PromptUsage | null;
}

/** Tokens of a turn; null what the agent does not count. */
export interface PromptUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly thoughtTokens: number | null;
  readonly totalTokens: number | null;
}

export function readPromptResult(result: JsonValue): ReadResult<PromptResult> {
  const { stopReason, usage } = readObject(result);
  if (typeof stopReason !== "string") return rejectValue('it has no "stopReason"');
  return acceptValue({
    reason: stopReason,
    usage: isObject(usage) ? readPromptUsage(usage) : null,
  });
}

function readPromptUsage(usage: JsonObject): PromptUsage {
  const count = (name: string): number | null => readNumber(usage[name]) ?? null;
  return {
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cacheReadTokens: count("cachedReadTokens"),
    cacheWriteTokens: count("cachedWriteTokens"),
    thoughtTokens: count("thoughtTokens"),
    totalTokens: count("totalTokens"),
  };
}

export function readLiveClients(result: JsonValue): ReadResult<ClientStatus> {
  if (!isObject(result) || !Array.isArray(result["clients"])) {
    return rejectValue("it has no list of clients");
  }
  const { client, previous_controller_id: previous, active_controller_id: active } = result;
  return acceptValue({
    client: isObject(client) ? (readClient(client) ?? null) : null,
    previousController: readString(previous) ?? null,
    controller: readString(active) ?? null,
    clients: readObjects(result["clients"]).flatMap((row) => readClient(row) ?? []),
  });
}

export function readClientList(result: JsonValue): ReadResult<readonly LiveClient[]> {
  const list = readObject(result)["data"];
  if (!Array.isArray(list)) return rejectValue("it has no list of clients");
  return acceptValue(readObjects(list).flatMap((row) => readClient(row) ?? []));
}

function readClient(row: JsonObject): LiveClient | undefined {
  const clientId = readString(row["client_id"]);
  if (clientId === undefined) return undefined;
  return {
    clientId,
    role: row["mode"] === "controller" ? "controller" : "observer",
    name: clientId,
    attachedAt: toMilliseconds(row["attached_at"]),
    lastSeenAt: toMilliseconds(row["last_seen_at"]),
    mayPrompt: row["prompt_injection"] === true,
    mayApprove: row["permission_routing"] === true,
    metadata: readObject(row["metadata"]),
  };
}

/** Seconds since 1970, as a text; some write the number. */
function toMilliseconds(seconds: JsonValue | undefined): number {
  const value = readNumber(seconds) ?? Number(readString(seconds) ?? "0");
  return Number.isFinite(value) ? value * 1000 : 0;
}
