import type { Principal } from "../domain/actor.ts";

/** The local user, who started the program. Has all rights. */
export const localPrincipal: Principal = {
  id: "local",
  rights: ["prompt", "approve", "control"],
};
