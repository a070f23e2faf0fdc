import { ServiceError } from "../../service/service-types.ts";
import type { Switches } from "../../switches.ts";
import type { ServiceSession } from "../session/service-session.ts";

/** Throws when the session has a turn under way and the switches want one at a time. */
export function checkOverlap(session: ServiceSession, switches: Switches): void {
  if (!session.isBusy || switches.overlapping === "interleave") return;
  const message = "The session has an invocation under way; wait for it to end";
  throw new ServiceError(409, "ConflictException", message);
}
