/** Every error code of Spanline. `docs/errors.md` explains each code; a test compares the two lists. */
export const ERROR_CODES = [
  "frame_invalid",
  "frame_checksum",
  "frame_too_large",
  "line_too_large",
  "event_too_large",
  "truncated_stream",
  "incomplete_turn",
  "protocol_error",
  "unexpected_content_type",
  "stream_exception",
  "malformed_event",
  "turn_too_large",
  "invalid_message",
  "message_too_complex",
  "invalid_tool",
  "invalid_tool_input",
  "mcp_server_failed",
  "host_failed",
  "outcome_unknown",
  "resume_mismatch",
  "unreadable_input",
  "invalid_option",
  "no_credentials",
  "connect_failed",
  "connection_lost",
  "first_event_timeout",
  "idle_timeout",
  "deadline_exceeded",
  "aborted",
  "halted",
  "validation_failed",
  "unauthorized",
  "quota_exceeded",
  "access_denied",
  "not_found",
  "conflict",
  "agent_failed",
  "throttled",
  "service_failed",
  "unknown_exception",
  "unexpected_answer",
  "harness_failed",
  "harness_deleting",
  "unknown_status",
  "not_ready_in_time",
  "still_deleting",
  "name_taken",
  "unknown_tag",
  "lease_held",
  "stale_lease",
  "wrong_seq",
  "cursor_ahead",
  "cursor_gone",
  "blob_taken",
  "store_damaged",
  "store_newer",
  "store_failed",
  "store_full",
  "overloaded",
  "store_closed",
  "workspace_refused",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error as data, carried by logs and events. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** Facts for programs, such as byte offsets, counts, or the provider's error name. Never secrets. */
  readonly details: { readonly [name: string]: unknown };
}

export interface ErrorOptions {
  readonly details?: Failure["details"];
  readonly cause?: unknown;
}

/** Base class of every error thrown by Spanline. Branch on `code`, which is stable; the message is for people. */
export class SpanlineError extends Error {
  readonly code: ErrorCode;
  readonly details: Failure["details"];

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.details = options.details ?? {};
  }

  toFailure(): Failure {
    return { code: this.code, message: this.message, details: this.details };
  }
}

/** Converts a failure into an error to throw. */
export function toSpanlineError({ code, message, details }: Failure): SpanlineError {
  return new SpanlineError(code, message, { details });
}

/**
 * Returns the message of a thrown value. Handles values other than errors, and values whose conversion to a string
 * throws.
 */
export function formatThrown(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an unprintable value";
  }
}

/** Bytes which violate their framing. `offset` counts from the start of the stream. */
export class FrameError extends SpanlineError {
  readonly offset: number;

  constructor(code: ErrorCode, message: string, details: { readonly offset: number }) {
    super(code, message, { details: { ...details } });
    this.offset = details.offset;
  }
}

/** A frame whose bytes do not match its checksum. */
export class FrameChecksumError extends FrameError {
  constructor(message: string, details: { readonly offset: number; readonly ordinal: number }) {
    super("frame_checksum", message, details);
  }
}

/** The stream stopped inside a frame, a line or an event. */
export class TruncatedStreamError extends FrameError {
  readonly pendingBytes: number;

  constructor(
    message: string,
    details: { readonly offset: number; readonly pendingBytes: number },
  ) {
    super("truncated_stream", message, details);
    this.pendingBytes = details.pendingBytes;
  }
}

/** The error of a system call that found the disk or the quota full, as a sentence with the path; undefined for any other. */
export function toDiskFullError(thrown: unknown): SpanlineError | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  if (thrown.code !== "ENOSPC" && thrown.code !== "EDQUOT") return undefined;
  const path = "path" in thrown && typeof thrown.path === "string" ? thrown.path : "A file";
  const message = `${path} cannot be written: the disk is full. Fix: free some space`;
  return new SpanlineError("store_full", message, { cause: thrown });
}
