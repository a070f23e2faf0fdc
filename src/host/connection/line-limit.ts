import { SpanlineError } from "../../domain/errors.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";

/** The size limit of sent lines: the protocol's limit, lowered after the agent has rejected a smaller line. */
export interface LineLimit {
  fits(bytes: number): boolean;
  /**
   * Lowers the limit after the agent closed the connection over a line of this size. Returns false if the line is too
   * small to be the cause.
   */
  lowerTo(bytes: number): boolean;
}

export function createLineLimit(): LineLimit {
  let maxBytes = MAX_LINE_BYTES;
  return {
    fits: (bytes) => bytes <= maxBytes,
    lowerTo(bytes) {
      if (bytes < ALWAYS_ACCEPTED_BYTES) return false;
      maxBytes = Math.min(maxBytes, bytes - 1);
      return true;
    },
  };
}

/** Size in bytes of UTF-8, the unit of all limits. */
export function measureLineBytes(line: string): number {
  // Short lines are always accepted, so their exact size is not computed.
  return line.length * 3 < ALWAYS_ACCEPTED_BYTES ? line.length : utf8.encode(line).length;
}

export function createTooLargeError(bytes: number): SpanlineError {
  const message = `The message has ${bytes} bytes, more than the agent accepts; it was not delivered`;
  return new SpanlineError("invalid_message", message, { details: { bytes } });
}

const utf8 = new TextEncoder();
const ALWAYS_ACCEPTED_BYTES = 64 * 1024;
