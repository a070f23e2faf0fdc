/**
 * - `invalid_request`: the request of the caller is not valid, and no request was sent.
 * - `conflict`: the key belongs to another delegation, or the delegation is running elsewhere.
 * - `discovery`: the agent card could not be read, or proves too little.
 * - `denied`: the address of the peer is not allowed.
 * - `protocol`: the peer broke the contract.
 */
export type DelegationErrorKind =
  | "invalid_request"
  | "conflict"
  | "discovery"
  | "denied"
  | "timeout"
  | "cancelled"
  | "transport"
  | "protocol";

/** A delegation without a result. The peer may be asked again with the same key. */
export class DelegationError extends Error {
  readonly kind: DelegationErrorKind;

  constructor(
    kind: DelegationErrorKind,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = "DelegationError";
    this.kind = kind;
  }
}
