import { SpanlineError } from "../domain/errors.ts";
import { MAX_LINE_BYTES } from "../wire/jsonrpc/rpc-connection.ts";

/** How large a line may be that is sent: not larger than anybody reads, nor than what the agent turned out not to take. */
export interface LineLimit {
  fits(bytes: number): boolean;
  /** The agent ended a connection over something of this size. False where that cannot have been the reason. */
  exceeded(bytes: number): boolean;
}

export function lineLimit(): LineLimit {
  let most = MAX_LINE_BYTES;
  return {
    fits: (bytes) => bytes <= most,
    exceeded(bytes) {
      if (bytes < ALWAYS_TAKEN) return false;
      most = Math.min(most, bytes - 1);
      return true;
    },
  };
}

/** In bytes of UTF-8, as limits are. */
export function lineBytes(line: string): number {
  // Measuring costs more than it tells of those that are always taken.
  return line.length * 3 < ALWAYS_TAKEN ? line.length : utf8.encode(line).length;
}

export function tooLarge(bytes: number): SpanlineError {
  const message = `The message has ${bytes} bytes, more than the agent takes; it was not heard`;
  return new SpanlineError("invalid_message", message, { details: { bytes } });
}

const utf8 = new TextEncoder();
const ALWAYS_TAKEN = 64 * 1024;
