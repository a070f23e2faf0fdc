/** The place of a worker's session in its tree of sessions. */
export interface SessionLineage {
  readonly parentSessionId: string;
  /** Id of the worker in the parent session. */
  readonly workerId: string;
  /** The session at the top of the tree. */
  readonly rootSessionId: string;
  /** 1 for a worker of the root session. */
  readonly depth: number;
}
