import type { Diagnostic } from "../diagnostic.ts";
import type { Failure } from "../errors.ts";

/** What one frame of a provider's stream carries, before anybody asks what it means. */
export type StreamMessage =
  | { readonly type: "event"; readonly name: string; readonly payload: unknown }
  /** The other side says that it failed. Out of band: no payload can pass for one. */
  | { readonly type: "exception"; readonly name: string; readonly payload: unknown }
  /** An event whose body cannot be read; `raw` is the body as text. */
  | {
      readonly type: "malformed";
      readonly name: string;
      readonly reason: string;
      readonly raw: string;
    }
  /** Something is wrong here and the stream goes on behind it. With a `failure`, something that was sent is missing. */
  | { readonly type: "fault"; readonly diagnostic: Diagnostic; readonly failure?: Failure }
  /** The stream itself broke: bad framing, or an end inside a frame. */
  | { readonly type: "failure"; readonly failure: Failure };
