import { SpanlineError } from "../../../domain/errors.ts";
import type { ClientLink } from "./client-link.ts";

/** Throws where the client has gone: what it asked for last is not begun for nobody. */
export function checkConnected({ disconnectSignal }: Pick<ClientLink, "disconnectSignal">): void {
  if (disconnectSignal.aborted) throw new SpanlineError("aborted", "The client has gone");
}
