/** The owner is gone, and with it what was asked of it: it may have been done or not. */
export class OwnerGoneError extends Error {
  override readonly name = "OwnerGoneError";
}
