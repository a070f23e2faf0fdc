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

/** The result of a request that opens a session. */
export interface OpenedSession {
  readonly sessionId: string;
  /** Null if the agent has no modes. */
  readonly modes: SessionModes | null;
  readonly options: readonly ConfigOption[];
  /** The cursor of the last update, for resuming later. Absent if the agent does not send cursors. */
  readonly cursor?: string;
}

/** Reads an opened session. `knownSessionId` is the id from the request; the result need not repeat it. */
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
  /** The cursor of the next page. Absent on the last page. */
  readonly nextPage?: string;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly workingDirectory: string | null;
  /** Additional workspace folders. */
  readonly folders: readonly string[];
  readonly title: string | null;
  readonly updatedAt: string | null;
  /** `waiting`: for a person, or for the results of a client's tools. Null if the agent does not report the state. */
  readonly state: SessionRowState | null;
}

export type SessionRowState = (typeof SESSION_STATES)[number];

const SESSION_STATES = ["idle", "running", "waiting"] as const;

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
    state: SESSION_STATES.find((known) => known === readHarnMeta(row)["state"]) ?? null,
  };
}

/** The result of `session/prompt`, sent when the turn has ended. */
export interface PromptResult {
  /** `end_turn`, `max_tokens`, `max_turn_requests`, `refusal`, `cancelled`, or a value of a later version. */
  readonly reason: string;
  /** Null if the agent does not report usage. */
  readonly usage: PromptUsage | null;
}

/** Token counts of a turn. A field is null if the agent does not report it. */
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

/** Converts seconds since 1970 to milliseconds. The wire format is a string, but some agents send a number. */
function toMilliseconds(seconds: JsonValue | undefined): number {
  const value = readNumber(seconds) ?? Number(readString(seconds) ?? "0");
  return Number.isFinite(value) ? value * 1000 : 0;
}
