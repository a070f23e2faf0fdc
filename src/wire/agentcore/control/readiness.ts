/** What a status of a harness or an endpoint means for somebody who waits for it. */
export type Readiness = "ready" | "changing" | "deleting" | "failed" | "unknown";

/** The list of the service is open: a word that is not known here may mean anything, so that nobody waits for it. */
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
