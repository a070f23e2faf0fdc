import type { ReactNode } from "react";
import type { WorkerStatus } from "../../../domain/workers/worker.ts";
import { Badge } from "../../parts/badge.tsx";
import { Fold, LongText } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { Link } from "../../shell/navigation.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import type { WorkerItem } from "../../state/session-view.ts";
import { useOpenCard } from "../thread-context.tsx";

/** A worker with its status, and a link to its session. */
export function WorkerCard({ item }: { readonly item: WorkerItem }): ReactNode {
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { worker, result } = item;
  const { name, agent, status, task, sessionId, failure, cycle } = worker;
  return (
    <div className="thread-notice" data-level={status === "failed" ? "error" : "info"}>
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name="fork" />
            <span className="thread-tool-name">
              Worker <VisibleText text={name} />
            </span>
            <span className="thread-tool-about">
              <Badge>{STATUS_TEXTS[status]}</Badge> <VisibleText text={agent} />
              {cycle > 1 && `, cycle ${cycle}`}
            </span>
          </>
        }
      >
        <p className="part-note">
          <Link to={`/sessions/${encodeURIComponent(sessionId)}`}>
            Open the session of this worker
          </Link>
        </p>
        <LongText text={task} label="Task" kind="prose" />
        {result !== null && <LongText text={result} label="Result" kind="prose" />}
        {failure !== null && <LongText text={failure.message} label="Failure" />}
      </Fold>
    </div>
  );
}

const STATUS_TEXTS: { readonly [Status in WorkerStatus]: string } = {
  running: "running",
  progressed: "triggered",
  awaiting_input: "waits for a trigger",
  completed: "completed",
  failed: "failed",
  stopped: "handed over",
  cancelled: "cancelled",
};
