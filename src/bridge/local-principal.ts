import type { Principal } from "../domain/actor.ts";

/** This machine's own user, who started the program. */
export const localPrincipal: Principal = {
  id: "local",
  rights: ["prompt", "approve", "control"],
};
