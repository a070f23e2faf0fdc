import type { Handoff } from "../handoff.ts";

/** Events of the slice `artifacts`: results of the agent for people and programs, beside its messages. */
export type ArtifactEvent = HandoffEmitted;

/** Work was handed over. The handoff can be downloaded as the artifact `artifactId`. */
export interface HandoffEmitted {
  readonly type: "handoff.emitted";
  readonly handoffId: string;
  readonly artifactId: string;
  readonly handoff: Handoff;
}
