import type { Caller } from "../../http/access/caller.ts";
import type { ProtocolVersion } from "../../wire/a2a/dialect.ts";

/** A request with its caller, independent of the binding. */
export interface CallContext {
  readonly caller: Caller;
  readonly version: ProtocolVersion;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
  /** Position of the last update received by the caller, from `Last-Event-ID`. */
  readonly lastSequence?: number;
}
