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
  toJsonText,
  findStringEnd,
} from "../../data/json.ts";
import { createInvalidRequest, createParseError, RPC_CODES, type RpcError } from "./rpc-error.ts";
import type { RequestId, RpcResponse, RpcMessage, RpcOutcome } from "./rpc-message.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Reads one line. A missing `jsonrpc` is accepted; `params` are validated by the method.
 *
 * A message with an id and without a method is a response, even if other fields are missing. An error in reply to a
 * broken response would let two peers send errors forever, and the request would never end.
 */
export function readMessage(line: string): RpcMessage {
  const parsed = parseLine(line);
  return parsed.ok ? toSingleMessage(parsed.value) : toUnparsedMessage(line, parsed);
}

/**
 * Reads one line which may be a batch. Each message is handled as if sent alone, and each response is a separate line:
 * a batch of responses would have to wait for the slowest, and a prompt takes as long as its turn.
 */
export function readMessages(line: string): readonly RpcMessage[] {
  const parsed = parseLine(line);
  if (!parsed.ok) return [toUnparsedMessage(line, parsed)];
  const { value } = parsed;
  if (isObject(value)) return [toMessage(value)];
  if (!Array.isArray(value)) return [toSingleMessage(value)];
  if (value.length === 0) return [createInvalidMessage(createInvalidRequest("a batch is empty"))];
  if (value.length > MAX_BATCH_MESSAGES) {
    const reason = `a batch has more than ${MAX_BATCH_MESSAGES} messages`;
    return [createInvalidMessage(createInvalidRequest(reason, "message_too_complex"))];
  }
  return value.map(toSingleMessage);
}

const MAX_BATCH_MESSAGES = 100;

type ParseFailure = Extract<ParsedJson, { readonly ok: false }>;

/** Text that is not JSON has no id. Text above a limit usually has an id. */
function toUnparsedMessage(line: string, { reason, exceedsLimit }: ParseFailure): RpcMessage {
  if (exceedsLimit !== true) return createInvalidMessage(createParseError(reason));
  return readSkippedMessage(line, createParseError(reason, "message_too_complex"));
}

/**
 * Interprets text above a limit, or text of which only the start is known. A response becomes a failed response, which
 * ends its request; any other message is refused with its id.
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

function toSingleMessage(value: JsonValue): RpcMessage {
  if (isObject(value)) return toMessage(value);
  const reason = Array.isArray(value) ? "a batch is not accepted here" : "a message is an object";
  return createInvalidMessage(createInvalidRequest(reason));
}

function toMessage(message: JsonObject): RpcMessage {
  if (message["jsonrpc"] !== undefined && message["jsonrpc"] !== "2.0") {
    return createInvalidMessage(
      createInvalidRequest('"jsonrpc" is not "2.0"'),
      readRequestId(message["id"]) ?? null,
    );
  }
  return message["method"] === undefined ? readResponse(message) : readRequest(message);
}

function readRequest(message: JsonObject): RpcMessage {
  const { method, params } = message;
  const id = readRequestId(message["id"]);
  if (id === undefined && message["id"] !== undefined)
    return createInvalidMessage(createInvalidRequest(INVALID_ID_REASON));
  if (typeof method !== "string")
    return createInvalidMessage(createInvalidRequest('"method" is not a string'), id ?? null);
  return id === undefined
    ? { type: "notification", method, params }
    : { type: "request", id, method, params };
}

function readResponse(message: JsonObject): RpcMessage {
  const id = readRequestId(message["id"]);
  if (id === undefined)
    return createInvalidMessage(createInvalidRequest("neither a method nor the id of a request"));
  return { type: "response", id, outcome: readOutcome(message) };
}

/** A message with both a result and an error is an error. */
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
    ...omitUndefined({ data }),
  };
}

/**
 * Returns a valid id, or undefined. An integer beyond the exact range of a double would be answered with a different
 * id; a very long string would be repeated in every error and log line about its request.
 */
function readRequestId(value: unknown): RequestId | undefined {
  if (value === null) return value;
  if (typeof value === "string") return value.length <= MAX_ID_CHARACTERS ? value : undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : undefined;
}

const MAX_ID_CHARACTERS = 256;

function createInvalidMessage(error: RpcError, id: RequestId = null): RpcMessage {
  return { type: "invalid", id, error };
}

const INVALID_ID_REASON = `"id" is not a string of at most ${MAX_ID_CHARACTERS} characters, an exact number or null`;

/**
 * Encodes a request as one line. A value without a JSON form is replaced by a placeholder, so the line stays a valid
 * message.
 */
export function encodeRequestLine(id: string, method: string, params: unknown): string {
  return `{"jsonrpc":"2.0","id":${toJsonText(id)},"method":${toJsonText(method)},"params":${toJsonText(params)}}\n`;
}

export function encodeNotificationLine(method: string, params: unknown): string {
  return `{"jsonrpc":"2.0","method":${toJsonText(method)},"params":${toJsonText(params)}}\n`;
}

export function encodeResponseLine(id: RequestId, outcome: RpcOutcome): string {
  const body = outcome.ok
    ? `"result":${toJsonText(outcome.result)}`
    : `"error":${toJsonText(outcome.error)}`;
  return `{"jsonrpc":"2.0","id":${toJsonText(id)},${body}}\n`;
}

/** Encodes the error response to invalid input, without the line end. */
export function encodeRefusal(reason: string): string {
  return encodeResponseLine(null, { ok: false, error: createInvalidRequest(reason) }).trimEnd();
}

/** The top-level members of an unparsed message. */
interface ScannedMessage {
  /** Null if the text has no valid id. */
  readonly id: RequestId;
  /** True for a `result` or `error` without a `method`: the response to a request sent by this side. */
  readonly isResponse: boolean;
}

/**
 * Finds the id in text too large or too deep for parsing, or in the start of a line, to correlate the error with its
 * request. Linear and without allocation of values, because the text may be hostile.
 */
export function scanMessage(text: string): ScannedMessage {
  let depth = 0;
  let id: RequestId = null;
  const members = new Set<string>();
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    else if (code === QUOTE) {
      const end = findStringEnd(text, at);
      const name =
        depth === 1 && end - at <= MAX_NAME_LENGTH ? readMemberName(text, at, end) : undefined;
      if (name !== undefined) members.add(name);
      if (name === "id") id = readIdMember(text, end) ?? null;
      at = end - 1;
    }
  }
  const isAnswer = members.has("result") || members.has("error");
  return { id, isResponse: isAnswer && !members.has("method") };
}

/** Returns the name if the string is a member name: a colon follows. */
function readMemberName(text: string, start: number, end: number): string | undefined {
  COLON.lastIndex = end;
  return COLON.test(text) ? text.slice(start + 1, end - 1) : undefined;
}

function readIdMember(text: string, end: number): RequestId | undefined {
  SCALAR.lastIndex = end;
  const [, scalar] = SCALAR.exec(text) ?? [];
  if (scalar === undefined) return undefined;
  try {
    return readRequestId(JSON.parse(scalar));
  } catch {
    return undefined;
  }
}

const COLON = /\s*:/y;
/** Bounded: a longer id is invalid. */
const SCALAR = /\s*:\s*("(?:[^"\\]|\\.){0,300}"|-?\d[\d.eE+-]{0,30}|null)\s*[,}]/y;
const MAX_NAME_LENGTH = 10;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
