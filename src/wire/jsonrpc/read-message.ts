import {
  hasMoreMembers,
  isObject,
  limitExceeded,
  parseJson,
  type JsonObject,
  type JsonValue,
  type ParsedJson,
} from "../../domain/json.ts";
import { invalidRequest, parseError, RPC_CODES, type RpcError } from "./rpc-error.ts";
import {
  MAX_ID_CHARACTERS,
  requestId,
  type RequestId,
  type RpcAnswer,
  type RpcMessage,
} from "./rpc-message.ts";
import { scanMessage } from "./scan-message.ts";

/**
 * Reads one line. A missing `jsonrpc` is forgiven; what `params` must be is for the method to say.
 *
 * What has an id and no method is an answer, whatever else it lacks: to answer a broken answer with an error would let
 * two peers do so for ever, and the request that it belongs to would never end.
 */
export function readMessage(line: string): RpcMessage {
  const parsed = parseLine(line);
  return parsed.ok ? messageOf(parsed.value) : unparsed(line, parsed);
}

/**
 * Reads one line that may be a batch: each of its messages is one as if it had come alone. What answers them are single
 * lines too: a batch of answers would have to wait for the last, and a prompt takes as long as its turn.
 */
export function readMessages(line: string): readonly RpcMessage[] {
  const parsed = parseLine(line);
  if (!parsed.ok) return [unparsed(line, parsed)];
  const { value } = parsed;
  if (!Array.isArray(value)) return [messageOf(value)];
  if (value.length === 0) return [invalid(invalidRequest("a batch is empty"))];
  if (value.length > MOST_IN_BATCH) {
    const reason = `a batch has more than ${MOST_IN_BATCH} messages`;
    return [invalid(invalidRequest(reason, "message_too_complex"))];
  }
  return value.map(messageOf);
}

const MOST_IN_BATCH = 100;

type Unparsed = Extract<ParsedJson, { readonly ok: false }>;

/** Text that is not JSON has no id; text that exceeds a limit usually has one. */
function unparsed(line: string, { reason, exceedsLimit }: Unparsed): RpcMessage {
  if (exceedsLimit !== true) return invalid(parseError(reason));
  return skippedMessage(line, parseError(reason, "message_too_complex"));
}

/**
 * The meaning of text that is not parsed because of a limit, or of which only the start is known: a failed response ends
 * the request that it answers; anything else is refused under its id.
 */
export function skippedMessage(text: string, error: RpcError): RpcMessage {
  const { id, isResponse } = scanMessage(text);
  if (!isResponse) return invalid(error, id);
  return { type: "response", id, outcome: { ok: false, error } };
}

function parseLine(line: string): ParsedJson {
  if (line.length > MOST_MEMBERS && hasMoreMembers(line, MOST_MEMBERS)) {
    return limitExceeded(`More than ${MOST_MEMBERS} members in objects`);
  }
  return parseJson(line);
}

/** Names of members are what costs most to read: more would hold up everybody else for a second or two. */
const MOST_MEMBERS = 200_000;

function messageOf(message: JsonValue): RpcMessage {
  if (Array.isArray(message)) return invalid(invalidRequest("a batch is not accepted here"));
  if (!isObject(message)) return invalid(invalidRequest("a message is an object"));
  if (message["jsonrpc"] !== undefined && message["jsonrpc"] !== "2.0") {
    return invalid(invalidRequest('"jsonrpc" is not "2.0"'), idOf(message) ?? null);
  }
  return message["method"] === undefined ? readAnswer(message) : readCall(message);
}

function readCall(message: JsonObject): RpcMessage {
  const { method, params } = message;
  const id = idOf(message);
  if (id === undefined && message["id"] !== undefined) return invalid(invalidRequest(WANTED_ID));
  if (typeof method !== "string")
    return invalid(invalidRequest('"method" is not a string'), id ?? null);
  return id === undefined
    ? { type: "notification", method, params }
    : { type: "request", id, method, params };
}

function readAnswer(message: JsonObject): RpcMessage {
  const id = idOf(message);
  if (id === undefined) return invalid(invalidRequest("neither a method nor the id of a request"));
  return { type: "response", id, outcome: outcomeOf(message) };
}

/** An error beside a result counts as an error. */
function outcomeOf({ result, error }: JsonObject): RpcAnswer {
  if (error === undefined || error === null) return { ok: true, result: result ?? null };
  return { ok: false, error: readError(error) };
}

export function readError(error: JsonValue): RpcError {
  if (!isObject(error)) return { code: RPC_CODES.internal, message: "unreadable", data: error };
  const { code, message, data } = error;
  return {
    code: typeof code === "number" ? code : RPC_CODES.internal,
    message: typeof message === "string" ? message : "",
    ...(data !== undefined && { data }),
  };
}

function idOf({ id }: JsonObject): RequestId | undefined {
  return requestId(id);
}

function invalid(error: RpcError, id: RequestId = null): RpcMessage {
  return { type: "invalid", id, error };
}

const WANTED_ID = `"id" is not a string of at most ${MAX_ID_CHARACTERS} characters, an exact number or null`;
