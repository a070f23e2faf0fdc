import { requireRight, type Caller } from "../../http/caller.ts";
import type { ServedAnswer } from "../../http/served.ts";
import type { Surface } from "./surface.ts";

/** Counts a turn of the caller's for as long as it is followed: `end` says that it no longer is, and so does a failure. */
export async function countedTurn(
  { rates }: Pick<Surface, "rates">,
  caller: Caller,
  work: (end: () => void) => Promise<ServedAnswer>,
): Promise<ServedAnswer> {
  requireRight(caller, "prompt", "Asking an agent");
  const end = rates?.turn(caller.id) ?? (() => {});
  try {
    return await work(end);
  } catch (error) {
    end();
    throw error;
  }
}
