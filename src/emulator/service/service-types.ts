import type { ServedResponse } from "../../http/server/http-types.ts";

export { ConnectionReset } from "../../http/server/http-types.ts";

/** One request to the emulator, read whole: bodies are small, and a signature covers all of one. */
export interface EmulatorRequest {
  readonly method: string;
  /** As it came, escapes and all, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
  /** The service's id for this request; every answer carries it. */
  readonly requestId: string;
  /** Aborts when the client is gone before the answer was sent. */
  readonly disconnectSignal: AbortSignal;
}

export interface EmulatorResponse extends ServedResponse {
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface EmulatorRoute {
  readonly method: string;
  /** Segments that begin with a colon match any one segment: `/harnesses/:id`. */
  readonly path: string;
  handle(
    request: EmulatorRequest,
    pathParams: { readonly [name: string]: string },
  ): Promise<EmulatorResponse>;
}

/** An error of the service, thrown by handlers and answered with its status, name and words. */
export class ServiceError extends Error {
  readonly status: number;
  readonly type: string;
  /** Members of the answer's body beside `message`. */
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
