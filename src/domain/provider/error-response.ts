/** An HTTP answer that is no success, read as far as it may go. */
export interface ErrorResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}
