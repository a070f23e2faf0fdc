import type { ReactNode } from "react";
import { ParentPanel } from "./parent-panel.tsx";
import { ArtifactsPanel } from "./artifacts-panel.tsx";
import { PlanPanel } from "./plan-panel.tsx";
import { TimelineRail } from "./timeline-rail.tsx";
import { UsagePanel } from "./usage-panel.tsx";
import { WorkersPanel } from "./workers-panel.tsx";
import type { SessionView } from "../state/session-view.ts";
import { listWorkerAgents } from "../state/worker-agents.ts";

/** A part of a session's page beside its turns. A slice with its own state adds a row; thread and shell do not change. */
export interface SessionPanel {
  /** The heading of the tab. Unique in its list. */
  readonly name: string;
  /** The panel is absent if false. */
  readonly isPresent: (view: SessionView) => boolean;
  readonly View: (props: { readonly view: SessionView }) => ReactNode;
}

/** Above the conversation, always visible: for the state of the running work, in one line. */
export const PINNED_PANELS: readonly SessionPanel[] = [
  { name: "Parent", isPresent: ({ lineage }) => lineage !== null, View: ParentPanel },
  { name: "Plan", isPresent: ({ plan }) => plan.length > 0, View: PlanPanel },
];

/** Tabs of the details at the side. The first is open at first. */
export const DETAIL_PANELS: readonly SessionPanel[] = [
  { name: "Timeline", isPresent: () => true, View: TimelineRail },
  {
    name: "Workers",
    isPresent: (view) => view.workerCount > 0 || listWorkerAgents(view).length > 0,
    View: WorkersPanel,
  },
  { name: "Artifacts", isPresent: ({ artifactCount }) => artifactCount > 0, View: ArtifactsPanel },
  { name: "Usage", isPresent: () => true, View: UsagePanel },
];
