/** A request that does not reach its handler. */
export interface Refusal {
  readonly status: 400 | 403 | 408 | 413 | 431 | 503;
  readonly message: string;
  /** Empty when the request could not be read so far. */
  readonly path: string;
  /** The setting that would let such requests in, and with what. */
  readonly setting?: readonly [name: "allowedHosts" | "allowedOrigins", value: string];
}
