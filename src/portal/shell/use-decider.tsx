import { useMemo } from "react";
import type { Decider } from "../inbox/request/request-choices.ts";
import { useServices, useStore } from "./services.tsx";

/** The person at this page, as known to the bridge. The result is the same object until a field changes. */
export function useDecider(): Decider {
  const { live } = useServices();
  const { status, ready, clockOffset } = useStore(live.connection);
  return useMemo(
    () => ({
      principal: ready?.principal.id ?? null,
      rights: ready?.principal.rights ?? [],
      isConnected: status === "live",
      timeOffset: clockOffset,
    }),
    [status, ready, clockOffset],
  );
}
