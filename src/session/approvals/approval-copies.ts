import type {
  ApprovalRequested,
  ApprovalResolved,
  WorkerOrigin,
} from "../../domain/events/approval-events.ts";
import type { Decision } from "../decision.ts";
import { resolveRoute } from "./approval-requests.ts";

/**
 * Copies the request of a worker into this session, under the same id, so the approvers of this session receive it. The
 * session of the worker decides; see `copyResolution`.
 */
export function copyRequest(
  decision: Decision,
  request: ApprovalRequested,
  worker: WorkerOrigin,
): void {
  const { approvalId } = request;
  const { pending } = decision.state.approvals;
  if (pending.some((entry) => entry.approvalId === approvalId)) return;
  const { routedTo: _, signature: __, ...content } = request;
  decision.emit({ ...content, ...resolveRoute(decision), worker });
}

/** Closes the copy of a request as the session of the worker has resolved the request. */
export function copyResolution(
  decision: Decision,
  through: string,
  resolution: ApprovalResolved,
): void {
  const { signature: _, ...content } = resolution;
  const isOpen = decision.state.approvals.pending.some(
    ({ approvalId, worker }) => approvalId === resolution.approvalId && worker?.through === through,
  );
  if (isOpen) decision.emit({ ...content, through });
}
