import type { JsonObject, JsonValue } from "../../../data/json.ts";
import {
  DELIVERIES,
  INJECTION_STATUSES,
  type DeliveredAs,
} from "../../../domain/session-command.ts";
import { acceptValue, rejectValue, type ReadResult } from "../host/read-result.ts";
import { readNumber, readObject, readObjects, readString, readStrings } from "../json-fields.ts";

/** An accepted message. Its `user-text` update with the same id follows when the agent receives it. */
export interface InjectResult {
  readonly messageId: string;
  /**
   * Where the message goes: into the running turn (`steer`), into a later turn (`queue`), or into a turn that starts now
   * (`turn`). Null if the agent does not report it.
   */
  readonly deliveredAs: DeliveredAs | null;
}

export type InjectionStatus = (typeof INJECTION_STATUSES)[number];

/** A message or reminder which waits for an injection point. */
export type PendingInjection =
  | {
      readonly kind: "user";
      readonly messageId: string;
      readonly mode: string;
      readonly text: string;
    }
  | {
      readonly kind: "reminder";
      readonly reminderId: string;
      readonly mode: string;
      readonly body: string;
      readonly tags: readonly string[];
      readonly dedupeKey: string | null;
      readonly ttlTurns: number | null;
      readonly roleHint: string;
      /** `bridge` for a reminder of a host, another value for a reminder of the runtime. */
      readonly source: string;
    };

/** A wait of an idle daemon. */
export interface IdleWait {
  /** The session of the daemon. Null if the connection has a single session and the agent does not name it. */
  readonly sessionId: string | null;
  /** The number of this wait, from 1. */
  readonly iteration: number;
  /** Milliseconds until the next notification. */
  readonly backoffMs: number;
}

export function readInjectResult(result: JsonValue): ReadResult<InjectResult> {
  const { messageId, deliveredAs } = readObject(result);
  if (typeof messageId !== "string") return rejectValue('it has no "messageId"');
  const delivery = DELIVERIES.find((known) => known === deliveredAs) ?? null;
  return acceptValue({ messageId, deliveredAs: delivery });
}

export function readReminderResult(result: JsonValue): ReadResult<string> {
  const { reminderId } = readObject(result);
  return typeof reminderId === "string"
    ? acceptValue(reminderId)
    : rejectValue('it has no "reminderId"');
}

export function readSubscriptionResult(result: JsonValue): ReadResult<string> {
  const { subscriptionId } = readObject(result);
  return typeof subscriptionId === "string"
    ? acceptValue(subscriptionId)
    : rejectValue('it has no "subscriptionId"');
}

export function readInjectionStatus(result: JsonValue): ReadResult<InjectionStatus> {
  const { status } = readObject(result);
  const known = INJECTION_STATUSES.find((name) => name === status);
  return known === undefined ? rejectValue('it has no known "status"') : acceptValue(known);
}

export function readPendingInjections(result: JsonValue): ReadResult<readonly PendingInjection[]> {
  const { injections } = readObject(result);
  if (!Array.isArray(injections)) return rejectValue("it has no list of injections");
  return acceptValue(readObjects(injections).flatMap((row) => readPendingInjection(row) ?? []));
}

function readPendingInjection(row: JsonObject): PendingInjection | undefined {
  const { kind, messageId, reminderId, tags } = row;
  const mode = readString(row["mode"]) ?? "";
  if (kind === "user" && typeof messageId === "string")
    return { kind, messageId, mode, text: readBlockTexts(row["content"]) };
  if (kind !== "reminder" || typeof reminderId !== "string") return undefined;
  return {
    kind,
    reminderId,
    mode,
    body: readString(row["body"]) ?? "",
    tags: readStrings(tags),
    dedupeKey: readString(row["dedupeKey"]) ?? null,
    ttlTurns: readNumber(row["ttlTurns"]) ?? null,
    roleHint: readString(row["roleHint"]) ?? "",
    source: readString(row["source"]) ?? "",
  };
}

function readBlockTexts(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  return readObjects(content)
    .map((block) => readString(block["text"]) ?? "")
    .join("\n");
}

/** Reads the params of `agent/idle`. */
export function readIdleWait(params: JsonValue | undefined): ReadResult<IdleWait> {
  const { sessionId, iteration, backoff_ms: backoffMs } = readObject(params);
  if (typeof iteration !== "number" || typeof backoffMs !== "number")
    return rejectValue('it has no "iteration" or no "backoff_ms"');
  return acceptValue({ sessionId: readString(sessionId) ?? null, iteration, backoffMs });
}
