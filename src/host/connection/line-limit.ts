import { SpanlineError } from "../../domain/errors.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";

/** How large a line may be that is sent: not larger than anybody reads, nor than what the agent turned out not to take. */
export interface LineLimit {
  fits(bytes: number): boolean;
  /** The agent ended a connection over something of this size. False where that cannot have been the reason. */
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

/** In bytes of UTF-8, as limits are. */
export function measureLineBytes(line: string): number {
  // Measuring costs more than it tells of those that are always taken.
  return line.length * 3 < ALWAYS_ACCEPTED_BYTES ? line.length : utf8.encode(line).length;
}

export function createTooLargeError(bytes: number): SpanlineError {
  const message = `The message has ${bytes} bytes, more than the agent takes; it was not heard`;
  return new SpanlineError("invalid_message", message, { details: { bytes } });
}

const utf8 = new TextEncoder();
const ALWAYS_ACCEPTED_BYTES = 64 * 1024;
