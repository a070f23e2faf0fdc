import type { Diagnostic } from "../diagnostic.ts";
import type { Failure } from "../errors.ts";

/** The content of one frame of a provider's stream, not yet interpreted. */
export type StreamMessage =
  | { readonly type: "event"; readonly name: string; readonly payload: unknown }
  /** The provider reports a failure. Marked by the framing, so no event payload can imitate an exception. */
  | { readonly type: "exception"; readonly name: string; readonly payload: unknown }
  /** An event with an unreadable body; `raw` is the body as text. */
  | {
      readonly type: "malformed";
      readonly name: string;
      readonly reason: string;
      readonly raw: string;
    }
  /** A problem after which the stream continues. With a `failure`, some content is missing. */
  | { readonly type: "fault"; readonly diagnostic: Diagnostic; readonly failure?: Failure }
  /** The stream itself broke: invalid framing, or an end inside a frame. */
  | { readonly type: "failure"; readonly failure: Failure };
