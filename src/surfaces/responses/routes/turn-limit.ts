import { requireRight, type Caller } from "../../../http/access/caller.ts";
import type { ServedResponse } from "../../../http/server/http-types.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** Counts a turn of the caller's for as long as it is followed: `end` says that it no longer is, and so does a failure. */
export async function withTurnLimit(
  { rates }: Pick<SurfaceContext, "rates">,
  caller: Caller,
  work: (endTurn: () => void) => Promise<ServedResponse>,
): Promise<ServedResponse> {
  requireRight(caller, "prompt", "Asking an agent");
  const endTurn = rates?.startTurn(caller.id) ?? (() => {});
  try {
    return await work(endTurn);
  } catch (error) {
    endTurn();
    throw error;
  }
}
