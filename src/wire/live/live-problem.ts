import { formatUnknownName } from "../../text/unknown-name.ts";
import type { LiveError } from "./live-frames.ts";

/** The result of decoding a message: a typed frame, or the reason why the message has no effect. */
export type DecodedLive<Frame> =
  | { readonly ok: true; readonly frame: Frame }
  | { readonly ok: false; readonly problem: LiveProblem };

export interface LiveProblem {
  /**
   * - `invalid`: the message violates the protocol.
   * - `unknown`: the frame type belongs to another version of the protocol.
   */
  readonly kind: "invalid" | "unknown";
  readonly error: LiveError;
  /** The subscription or topic named by the message. Absent if the message names none. */
  readonly id?: string;
}

type FailedDecoding = Extract<DecodedLive<never>, { readonly ok: false }>;

export function createInvalidFrame(message: string, id?: string): FailedDecoding {
  return createProblem("invalid", message, id);
}

export function createUnknownFrame(
  type: string,
  types: readonly string[],
  id?: string,
): FailedDecoding {
  return createProblem("unknown", formatUnknownName("Frame", type, { names: types }), id);
}

function createProblem(
  kind: LiveProblem["kind"],
  message: string,
  id: string | undefined,
): FailedDecoding {
  const error = { code: "invalid_message", message };
  return { ok: false, problem: { kind, error, ...(id !== undefined && { id }) } };
}
