import type { ReactNode } from "react";
import { isTerminalStatus, type Worker } from "../../../domain/workers/worker.ts";
import { formatDuration } from "../../../text/format-duration.ts";
import { Badge } from "../../parts/badge.tsx";
import { Fold, LongText } from "../../parts/fold.tsx";
import { Markdown } from "../../parts/markdown/markdown.tsx";
import { ElapsedTime } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { WorkerItem } from "../../state/session-view.ts";
import { describeWorkerFacts, describeWorkerStatus } from "../describe-worker.ts";
import { ActionError, useAction, useOpenCard, useThread } from "../thread-context.tsx";
import { WorkerLink } from "../worker-link.tsx";
import { StatusIcon } from "./status-icon.tsx";
import { TriggerForm } from "./trigger-form.tsx";

/** A worker with its status, its result and its commands, and a link to its session. */
export function WorkerCard({ item }: { readonly item: WorkerItem }): ReactNode {
  const { worker, result } = item;
  const { name, status, task, sessionId, failure } = worker;
  const isWaiting = status === "awaiting_input";
  const [isOpen, setOpen] = useOpenCard(item.key, isWaiting || status === "failed");
  const { tone } = describeWorkerStatus(worker);
  return (
    <div className="thread-tool thread-worker" data-tone={tone}>
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={<WorkerSummary worker={worker} />}
        actions={
          <WorkerLink sessionId={sessionId} name={name}>
            Open
          </WorkerLink>
        }
      >
        <div className="thread-detail">
          <div className="thread-label">Task</div>
          <LongText text={task} label="Task" kind="prose" />
        </div>
        {result !== null && (
          <div className="thread-detail">
            <div className="thread-label">{isWaiting ? "Result so far" : "Result"}</div>
            <Markdown text={result} isStreaming={false} />
          </div>
        )}
        {failure !== null && (
          <div className="thread-detail" data-error="true">
            <div className="thread-label">Failure</div>
            <LongText text={failure.message} label="Failure" kind="prose" />
          </div>
        )}
        <p className="part-note">
          <UntrustedText text={describeWorkerFacts(worker)} />
        </p>
        {!isTerminalStatus(status) && <WorkerCommands item={item} isWaiting={isWaiting} />}
      </Fold>
    </div>
  );
}

function WorkerSummary({ worker }: { readonly worker: Worker }): ReactNode {
  const { name, task, startedAt, finishedAt, status } = worker;
  const described = describeWorkerStatus(worker);
  return (
    <>
      <StatusIcon status={described} />
      <span className="thread-tool-name">
        Worker <UntrustedText text={name} />
      </span>
      <span className="thread-tool-about thread-worker-task">
        <UntrustedText text={task.slice(0, 200)} />
      </span>
      <span className="thread-tool-facts">
        <Badge tone={described.tone}>{described.label}</Badge>
        {finishedAt !== null && <span>{formatDuration(finishedAt - startedAt)}</span>}
        {status === "running" && <ElapsedTime from={startedAt} />}
      </span>
    </>
  );
}

/** Closes a worker. Triggers a worker which waits. */
function WorkerCommands({
  item: { key, worker },
  isWaiting,
}: {
  readonly item: WorkerItem;
  readonly isWaiting: boolean;
}): ReactNode {
  const { actions } = useThread();
  const closing = useAction();
  const { workerId, name } = worker;
  const closeButton = (
    <button
      type="button"
      className="part-button"
      disabled={closing.isRunning}
      onClick={() => closing.run(() => actions.closeWorker(workerId))}
    >
      {closing.isRunning ? "Closing …" : "Close the worker"}
    </button>
  );
  return (
    <>
      {isWaiting ? (
        <TriggerForm itemKey={key} workerId={workerId} name={name}>
          {closeButton}
        </TriggerForm>
      ) : (
        <div>{closeButton}</div>
      )}
      <ActionError error={closing.error} />
    </>
  );
}
