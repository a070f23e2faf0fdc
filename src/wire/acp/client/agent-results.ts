import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import type { LiveClient, LiveClients } from "../../../domain/live-client.ts";
import { read, unreadable, type Reading } from "../host/reading.ts";
import { fieldsOf, harnFields, numberOf, objectsOf, present, textOf, textsOf } from "../fields.ts";
import {
  readModes,
  readOptions,
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
export function readOpened(result: JsonValue, known?: string): Reading<OpenedSession> {
  const { sessionId, modes, configOptions } = fieldsOf(result);
  const id = known ?? textOf(sessionId);
  if (id === undefined || id === "") return unreadable('it has no "sessionId"');
  return read({
    sessionId: id,
    modes: readModes(modes),
    options: readOptions(configOptions),
    ...present({ cursor: textOf(harnFields(result)["cursor"]) }),
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

export function readSessionPage(result: JsonValue): Reading<SessionPage> {
  const { sessions, nextCursor } = fieldsOf(result);
  if (!Array.isArray(sessions)) return unreadable("it has no list of sessions");
  return read({
    sessions: objectsOf(sessions).flatMap((one) => readRow(one) ?? []),
    ...(typeof nextCursor === "string" && { nextPage: nextCursor }),
  });
}

function readRow(row: JsonObject): SessionRow | undefined {
  const { sessionId, cwd, additionalDirectories, title, updatedAt } = row;
  if (typeof sessionId !== "string") return undefined;
  return {
    sessionId,
    workingDirectory: textOf(cwd) ?? null,
    folders: textsOf(additionalDirectories),
    title: textOf(title) ?? null,
    updatedAt: textOf(updatedAt) ?? null,
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

export function readPromptResult(result: JsonValue): Reading<PromptResult> {
  const { stopReason, usage } = fieldsOf(result);
  if (typeof stopReason !== "string") return unreadable('it has no "stopReason"');
  return read({ reason: stopReason, usage: isObject(usage) ? readUsage(usage) : null });
}

function readUsage(usage: JsonObject): PromptUsage {
  const count = (name: string): number | null => numberOf(usage[name]) ?? null;
  return {
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cacheReadTokens: count("cachedReadTokens"),
    cacheWriteTokens: count("cachedWriteTokens"),
    thoughtTokens: count("thoughtTokens"),
    totalTokens: count("totalTokens"),
  };
}

export function readLiveClients(result: JsonValue): Reading<LiveClients> {
  if (!isObject(result) || !Array.isArray(result["clients"])) {
    return unreadable("it has no list of clients");
  }
  const { client, previous_controller_id: previous, active_controller_id: active } = result;
  return read({
    client: isObject(client) ? (readClient(client) ?? null) : null,
    previousController: textOf(previous) ?? null,
    controller: textOf(active) ?? null,
    clients: objectsOf(result["clients"]).flatMap((one) => readClient(one) ?? []),
  });
}

export function readClientList(result: JsonValue): Reading<readonly LiveClient[]> {
  const list = fieldsOf(result)["data"];
  if (!Array.isArray(list)) return unreadable("it has no list of clients");
  return read(objectsOf(list).flatMap((one) => readClient(one) ?? []));
}

function readClient(row: JsonObject): LiveClient | undefined {
  const clientId = textOf(row["client_id"]);
  if (clientId === undefined) return undefined;
  return {
    clientId,
    mode: row["mode"] === "controller" ? "controller" : "observer",
    name: clientId,
    attachedAt: millisecondsOf(row["attached_at"]),
    lastSeenAt: millisecondsOf(row["last_seen_at"]),
    mayPrompt: row["prompt_injection"] === true,
    mayApprove: row["permission_routing"] === true,
    metadata: fieldsOf(row["metadata"]),
  };
}

/** Seconds since 1970, as a text; some write the number. */
function millisecondsOf(seconds: JsonValue | undefined): number {
  const value = numberOf(seconds) ?? Number(textOf(seconds) ?? "0");
  return Number.isFinite(value) ? value * 1000 : 0;
}
