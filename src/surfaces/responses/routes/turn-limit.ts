import { requireRight, type Caller } from "../../../http/access/caller.ts";
import type { ServedResponse } from "../../../http/server/http-types.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** Counts a turn of the caller while it is followed. The count ends when `work` calls `endTurn` or throws. */
export async function withTurnLimit(
  { rates }: Pick<SurfaceContext, "rates">,
  caller: Caller,
  work: (endTurn: () => void) => Promise<ServedResponse>,
): Promise<ServedResponse> {
  requireRight(caller, "prompt", "Submitting a prompt");
  const endTurn = rates?.startTurn(caller.id) ?? (() => {});
  try {
    return await work(endTurn);
  } catch (error) {
    endTurn();
    throw error;
  }
}
