import { isObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatValue } from "../../text/format-value.ts";
import { createParamsError } from "./a2a-error.ts";
import { parseState } from "./encode-v1.ts";
import { readSentConfig, type SentPushConfig } from "./push/push-config.ts";
import { readId, readMessage, type SentMessage } from "./read-message.ts";
import type { TaskState } from "./task.ts";

/** A request which sends a message. */
export interface SendRequest {
  readonly message: SentMessage;
  /** The agent of a new context. Absent: the first agent. */
  readonly agent?: string;
  /** Responds before the task ends. */
  readonly isImmediate: boolean;
  /** The largest number of messages in the response. Absent: all. */
  readonly historyLength?: number;
  /** Receives the updates of the task. */
  readonly push?: SentPushConfig;
}

export function readSendRequest(params: unknown): SendRequest {
  const { message, configuration, metadata } = readParams(params);
  const { returnImmediately, blocking, historyLength } = isObject(configuration)
    ? configuration
    : {};
  const agent =
    readAgent(metadata) ?? readAgent(isObject(message) ? message["metadata"] : undefined);
  return {
    message: readMessage(message),
    // The setting of 0.3 is `blocking`, and its default differs between clients: a send waits by default.
    isImmediate: returnImmediately === true || blocking === false,
    ...omitUndefined({
      agent,
      historyLength: readCount(historyLength, "historyLength"),
      push: readSentConfig(configuration),
    }),
  };
}

function readAgent(metadata: unknown): string | undefined {
  return isObject(metadata) ? readId(metadata["agent"], "metadata.agent") : undefined;
}

/** A request about one task. */
export interface TaskRequest {
  readonly taskId: string;
  readonly historyLength?: number;
}

export function readTaskRequest(params: unknown): TaskRequest {
  const { id, historyLength } = readParams(params);
  const taskId = readId(id, "id");
  if (taskId === undefined) throw createParamsError("id is missing: expected the id of a task");
  return {
    taskId,
    ...omitUndefined({ historyLength: readCount(historyLength, "historyLength") }),
  };
}

export interface ListRequest {
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly pageSize: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  /** Default: false. */
  readonly includesArtifacts: boolean;
  /** Milliseconds since 1970. Tasks with an older status are left out. Absent: none is. */
  readonly since?: number;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

export function readListRequest(params: unknown): ListRequest {
  const fields = readParams(params ?? {});
  const { historyLength, includeArtifacts, statusTimestampAfter, status } = fields;
  const contextId = readId(fields["contextId"], "contextId");
  const pageToken = readToken(fields["pageToken"]);
  return {
    pageSize: readPageSize(fields["pageSize"]),
    includesArtifacts: includeArtifacts === true || includeArtifacts === "true",
    ...omitUndefined({
      since: readTime(statusTimestampAfter),
      contextId,
      pageToken,
      state: readState(status),
      historyLength: readCount(historyLength, "historyLength"),
    }),
  };
}

function readToken(value: unknown): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === "string") return value;
  throw createParamsError(`pageToken is ${formatValue(value)}: expected a string`);
}

function readPageSize(value: unknown): number {
  const size = readCount(value, "pageSize") ?? DEFAULT_PAGE_SIZE;
  if (size >= 1 && size <= MAX_PAGE_SIZE) return size;
  throw createParamsError(`pageSize is ${size}: expected 1 to ${MAX_PAGE_SIZE}`);
}

function readState(value: unknown): TaskState | undefined {
  if (isAbsent(value) || value === "TASK_STATE_UNSPECIFIED") return undefined;
  const state = typeof value === "string" ? parseState(value) : undefined;
  if (state !== undefined) return state;
  throw createParamsError(
    `status is ${formatValue(value)}: expected a state such as TASK_STATE_WORKING`,
  );
}

function readTime(value: unknown): number | undefined {
  if (isAbsent(value)) return undefined;
  const time = typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw createParamsError(
    `statusTimestampAfter is ${formatValue(value)}: expected an ISO 8601 time`,
  );
}

/** A query of a URL has strings in place of numbers. */
function readCount(value: unknown, name: string): number | undefined {
  if (isAbsent(value)) return undefined;
  const count = typeof value === "string" ? Number(value) : value;
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
  throw createParamsError(`${name} is ${formatValue(value)}: expected a whole number`);
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Protocol buffers write an absent field as null, and an absent string as empty. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

export function readParams(params: unknown): { readonly [key: string]: unknown } {
  if (isObject(params)) return params;
  throw createParamsError(`params is ${formatValue(params)}: expected an object`);
}
