import { useEffect, useState } from "react";
import { systemClock } from "../../platform/clock.ts";
import { DEAD_ZONE_MS } from "../inbox/request/dead-zone.ts";

/**
 * True for a moment after a destructive button has appeared or moved: a finger aimed at another button must not
 * press this button.
 */
export function useDeadZone(position: unknown): boolean {
  const [settledPosition, setSettledPosition] = useState<unknown>(NOT_SETTLED);
  useEffect(
    () => systemClock.schedule(DEAD_ZONE_MS, () => setSettledPosition(position)),
    [position],
  );
  return settledPosition !== position;
}

const NOT_SETTLED = Symbol("not settled");
