import { findStringEnd } from "../../data/json.ts";
import { readRequestId, type RequestId } from "./rpc-message.ts";

/** The top-level members of a message that was not parsed. */
export interface ScannedMessage {
  /** Null if the text has no valid id. */
  readonly id: RequestId;
  /** The message has a `result` or an `error` and no `method`: it answers a request of ours. */
  readonly isResponse: boolean;
}

/**
 * Finds the id in text that is too large or too deep to be parsed, or of which only the start was kept, so that the
 * error can be correlated with its request. Linear, and builds nothing: the text may be hostile.
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

/** The member's name, if the string is one: a colon follows. */
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
/** Bounded: an id that is longer is not valid. */
const SCALAR = /\s*:\s*("(?:[^"\\]|\\.){0,300}"|-?\d[\d.eE+-]{0,30}|null)\s*[,}]/y;
const MAX_NAME_LENGTH = 10;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
