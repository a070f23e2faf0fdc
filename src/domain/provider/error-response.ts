/** An HTTP error response. The body may be cut at the read limit. */
export interface ErrorResponse {
  readonly status: number;
  /** Header names are lowercase. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}
