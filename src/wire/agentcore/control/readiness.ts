/** The meaning of a status of a harness or an endpoint for a caller waiting for it. */
export type Readiness = "ready" | "changing" | "deleting" | "failed" | "unknown";

/** Maps a status of the service. The service may add statuses; an unknown status ends waiting. */
export function resolveReadiness(status: string | null): Readiness {
  return (status === null ? undefined : READINESS.get(status)) ?? "unknown";
}

const READINESS: ReadonlyMap<string, Readiness> = new Map<string, Readiness>([
  ["READY", "ready"],
  ["CREATING", "changing"],
  ["UPDATING", "changing"],
  ["DELETING", "deleting"],
  ["CREATE_FAILED", "failed"],
  ["UPDATE_FAILED", "failed"],
  ["DELETE_FAILED", "failed"],
]);
