import { useMemo, useState, type ReactNode } from "react";
import { pluralize } from "../../text/pluralize.ts";
import { Badge } from "../parts/badge.tsx";
import { Fold } from "../parts/fold.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { useServices, useStore } from "../shell/services.tsx";
import type { SessionView, WorkerItem } from "../state/session-view.ts";
import { describeWorkerStatus, listWorkers, needsPerson } from "./describe-worker.ts";
import type { ToolStatus } from "./describe-tool.ts";
import { STAGE_TEXTS } from "./describe-turn.ts";
import { StatusIcon } from "./items/status-icon.tsx";
import { StartWorker } from "./start-worker.tsx";
import { WorkerLink } from "./worker-link.tsx";
import "./timeline.css";

/** The workers of a session and, when opened, their own workers. */
export function WorkersPanel({ view }: { readonly view: SessionView }): ReactNode {
  return (
    <section aria-label="Workers" className="workers">
      <StartWorker view={view} />
      {view.workerCount === 0 && <p className="part-note workers-none">No workers</p>}
      <WorkerList view={view} />
    </section>
  );
}

const PAGE_SIZE = 50;

function WorkerList({ view }: { readonly view: SessionView }): ReactNode {
  const [limit, setLimit] = useState(PAGE_SIZE);
  const workers = listWorkers(view);
  const omitted = workers.length - limit;
  return (
    <>
      {omitted > 0 && (
        <button
          type="button"
          className="part-text-button"
          onClick={() => setLimit(limit + PAGE_SIZE)}
        >
          Show {pluralize(omitted, "earlier worker")}
        </button>
      )}
      <ul className="workers-list">
        {workers.slice(-limit).map((item) => (
          <li key={item.key}>
            <WorkerNode item={item} parent={view} />
          </li>
        ))}
      </ul>
    </>
  );
}

function WorkerNode({
  item: { worker },
  parent,
}: {
  readonly item: WorkerItem;
  readonly parent: SessionView;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const status = describeWorkerStatus(worker);
  return (
    <Fold
      isOpen={isOpen}
      onToggle={setOpen}
      summary={
        <>
          <StatusIcon status={status} />
          <span className="workers-name">
            <UntrustedText text={worker.name} />
          </span>
          <NodeStatus status={status} isWaiting={needsPerson(worker, parent)} />
        </>
      }
      actions={
        <WorkerLink sessionId={worker.sessionId} name={worker.name}>
          Open
        </WorkerLink>
      }
    >
      <WorkerBranch sessionId={worker.sessionId} />
    </Fold>
  );
}

/** The icon says enough about a worker which runs or has completed. */
function NodeStatus({
  status: { label, tone, isBusy },
  isWaiting,
}: {
  readonly status: ToolStatus;
  readonly isWaiting: boolean;
}): ReactNode {
  if (isWaiting) return <Badge tone="warning">needs you</Badge>;
  if (isBusy || tone === "good") return <span className="part-hidden">{label}</span>;
  return <Badge tone={tone}>{label}</Badge>;
}

/** The session of a worker, followed while its branch is open. */
function WorkerBranch({ sessionId }: { readonly sessionId: string }): ReactNode {
  const { live } = useServices();
  const store = useMemo(() => live.follow(sessionId), [live, sessionId]);
  const { view, isLoading, error } = useStore(store);
  if (error !== null) return <p className="part-note">{error.message}</p>;
  if (isLoading && view.seq === 0) return <p className="part-note">Loading</p>;
  const turn = view.turns.at(-1);
  return (
    <>
      <p className="part-note">
        {turn?.end === null && `${STAGE_TEXTS[turn.stage]}. `}
        {view.workerCount === 0 ? "No workers" : pluralize(view.workerCount, "worker")}
      </p>
      {view.workerCount > 0 && <WorkerList view={view} />}
    </>
  );
}
