/** A request to the service, before anybody knows its host or signs it. */
export interface WireRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Escaped once; a signature escapes it a second time. */
  readonly path: string;
  readonly query: { readonly [name: string]: string };
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
}

export function encodeJsonBody(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

const encoder = new TextEncoder();
