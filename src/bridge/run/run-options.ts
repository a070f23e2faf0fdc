import type { TurnCaps } from "../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { JsonObject } from "../../data/json.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { TurnGuard } from "./guarded-provider.ts";

export interface RunOptions {
  readonly prompt: string;
  /** Answers what the agent's definition asks about. Without it everything that asks is denied. */
  approve?(request: ApprovalRequested): Promise<ApprovalDecision | RunDecision>;
  /** Sees every event as it is written down. What it throws ends the run, and is thrown by it. */
  onEvent?(envelope: Envelope): void;
  /** Told in full what went wrong in a tool, of which the agent hears the message alone. */
  report?(error: unknown): void;
  readonly guard?: TurnGuard;
  /** For this run, in place of what the agent's definition says. */
  readonly caps?: Partial<TurnCaps>;
  /** The run ends when the agent's terminal tool has succeeded; what the agent would say to that is not bought. */
  readonly stopAtTerminalTool?: boolean;
  /** Ends the run as cancelled. */
  readonly signal?: AbortSignal;
  readonly workingDirectory?: string;
  readonly clock?: SteadyClock;
}

/** A decision with more to say. */
export interface RunDecision {
  readonly decision: ApprovalDecision;
  /** For the log, and where a tool is denied for the agent. */
  readonly reason?: string;
  /** What the tool is to run with instead. */
  readonly input?: JsonObject;
}
