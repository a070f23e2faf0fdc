import type { ServedResponse } from "../../http/server/http-types.ts";

export { ConnectionReset } from "../../http/server/http-types.ts";

/** A request to the emulator with its whole body: bodies are small, and a signature covers the whole body. */
export interface EmulatorRequest {
  readonly method: string;
  /** As received, with escapes and without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names are in lowercase. */
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
  /** The request id, included in every response. */
  readonly requestId: string;
  /** Aborts if the client disconnects before the response was sent. */
  readonly disconnectSignal: AbortSignal;
}

export interface EmulatorResponse extends ServedResponse {
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface EmulatorRoute {
  readonly method: string;
  /** A segment with a leading colon matches any single segment: `/harnesses/:id`. */
  readonly path: string;
  handle(
    request: EmulatorRequest,
    pathParams: { readonly [name: string]: string },
  ): Promise<EmulatorResponse>;
}

/** An error of the service. Handlers throw it, and the client receives its status, type and message. */
export class ServiceError extends Error {
  readonly status: number;
  readonly type: string;
  /** Members of the response body in addition to `message`. */
  readonly members: { readonly [name: string]: unknown };

  constructor(
    status: number,
    type: string,
    message: string,
    members: { readonly [name: string]: unknown } = {},
  ) {
    super(message);
    this.name = type;
    this.status = status;
    this.type = type;
    this.members = members;
  }
}
