import {
  hasMoreMembers,
  hasTooManyValues,
  isObject,
  createLimitError,
  MAX_REQUEST_MEMBERS,
  MAX_REQUEST_VALUES,
  parseJson,
  type JsonObject,
  type JsonValue,
  type ParsedJson,
} from "../../data/json.ts";
import { createInvalidRequest, createParseError, RPC_CODES, type RpcError } from "./rpc-error.ts";
import {
  MAX_ID_CHARACTERS,
  readRequestId,
  type RequestId,
  type RpcResponse,
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
  return parsed.ok ? toMessage(parsed.value) : toUnparsedMessage(line, parsed);
}

/**
 * Reads one line that may be a batch: each of its messages is one as if it had come alone. What answers them are single
 * lines too: a batch of answers would have to wait for the last, and a prompt takes as long as its turn.
 */
export function readMessages(line: string): readonly RpcMessage[] {
  const parsed = parseLine(line);
  if (!parsed.ok) return [toUnparsedMessage(line, parsed)];
  const { value } = parsed;
  if (!Array.isArray(value)) return [toMessage(value)];
  if (value.length === 0) return [createInvalidMessage(createInvalidRequest("a batch is empty"))];
  if (value.length > MAX_BATCH_MESSAGES) {
    const reason = `a batch has more than ${MAX_BATCH_MESSAGES} messages`;
    return [createInvalidMessage(createInvalidRequest(reason, "message_too_complex"))];
  }
  return value.map(toMessage);
}

const MAX_BATCH_MESSAGES = 100;

type ParseFailure = Extract<ParsedJson, { readonly ok: false }>;

/** Text that is not JSON has no id; text that exceeds a limit usually has one. */
function toUnparsedMessage(line: string, { reason, exceedsLimit }: ParseFailure): RpcMessage {
  if (exceedsLimit !== true) return createInvalidMessage(createParseError(reason));
  return readSkippedMessage(line, createParseError(reason, "message_too_complex"));
}

/**
 * The meaning of text that is not parsed because of a limit, or of which only the start is known: a failed response ends
 * the request that it answers; anything else is refused under its id.
 */
export function readSkippedMessage(text: string, error: RpcError): RpcMessage {
  const { id, isResponse } = scanMessage(text);
  if (!isResponse) return createInvalidMessage(error, id);
  return { type: "response", id, outcome: { ok: false, error } };
}

function parseLine(line: string): ParsedJson {
  if (line.length > MAX_REQUEST_MEMBERS && hasMoreMembers(line, MAX_REQUEST_MEMBERS)) {
    return createLimitError(`More than ${MAX_REQUEST_MEMBERS} members in objects`);
  }
  if (hasTooManyValues(line, MAX_REQUEST_VALUES)) {
    return createLimitError(`More than ${MAX_REQUEST_VALUES} values`);
  }
  return parseJson(line);
}

function toMessage(message: JsonValue): RpcMessage {
  if (Array.isArray(message))
    return createInvalidMessage(createInvalidRequest("a batch is not accepted here"));
  if (!isObject(message))
    return createInvalidMessage(createInvalidRequest("a message is an object"));
  if (message["jsonrpc"] !== undefined && message["jsonrpc"] !== "2.0") {
    return createInvalidMessage(
      createInvalidRequest('"jsonrpc" is not "2.0"'),
      readId(message) ?? null,
    );
  }
  return message["method"] === undefined ? readResponse(message) : readRequest(message);
}

function readRequest(message: JsonObject): RpcMessage {
  const { method, params } = message;
  const id = readId(message);
  if (id === undefined && message["id"] !== undefined)
    return createInvalidMessage(createInvalidRequest(INVALID_ID_REASON));
  if (typeof method !== "string")
    return createInvalidMessage(createInvalidRequest('"method" is not a string'), id ?? null);
  return id === undefined
    ? { type: "notification", method, params }
    : { type: "request", id, method, params };
}

function readResponse(message: JsonObject): RpcMessage {
  const id = readId(message);
  if (id === undefined)
    return createInvalidMessage(createInvalidRequest("neither a method nor the id of a request"));
  return { type: "response", id, outcome: readOutcome(message) };
}

/** An error beside a result counts as an error. */
function readOutcome({ result, error }: JsonObject): RpcResponse {
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

function readId({ id }: JsonObject): RequestId | undefined {
  return readRequestId(id);
}

function createInvalidMessage(error: RpcError, id: RequestId = null): RpcMessage {
  return { type: "invalid", id, error };
}

const INVALID_ID_REASON = `"id" is not a string of at most ${MAX_ID_CHARACTERS} characters, an exact number or null`;
