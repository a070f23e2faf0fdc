import type { TurnCaps } from "../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { TurnGuard } from "./guarded-provider.ts";

export interface RunOptions {
  readonly prompt: string;
  /**
   * Decides approvals requested by the agent's rules, and answers the agent's questions. Without this function all
   * approvals are denied and all questions declined.
   */
  approve?(request: ApprovalRequested): Promise<ApprovalDecision | RunDecision>;
  /** Called with every event after it is stored. An exception ends the run and is thrown by it. */
  onEvent?(envelope: Envelope): void;
  /** Receives the full error of a failed tool. The agent sees only the message. */
  report?(error: unknown): void;
  readonly guard?: TurnGuard;
  /** Override the agent's caps for this run. */
  readonly caps?: Partial<TurnCaps>;
  /** Ends the run when the agent's terminal tool succeeds, without the cost of another invocation. Default: false. */
  readonly stopAtTerminalTool?: boolean;
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  readonly workingDirectory?: string;
  readonly clock?: SteadyClock;
}

/** A decision with optional details. */
export interface RunDecision {
  readonly decision: ApprovalDecision;
  /** Stored in the log, and sent to the agent if the tool is denied. */
  readonly reason?: string;
  /** Replaces the arguments of the tool call. */
  readonly input?: JsonObject;
  /** The answer to a question of the agent (`request.form`), with the decision `answer`. */
  readonly answer?: JsonValue;
}
