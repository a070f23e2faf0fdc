import { DEFAULT_STALLED_MS } from "../../http/server/send-response.ts";
import type { RateLimits } from "../../http/access/rate-limits.ts";
import type { Access } from "../../http/access/access.ts";
import type { TraceMode } from "../../domain/trace-mode.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";

export interface ResponsesOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly access: Access;
  readonly rates?: RateLimits;
  readonly settings?: Partial<ResponsesSettings>;
  /** Told once how each turn ended that was asked for here and followed to its end, and what it cost. */
  readonly observe?: (end: TurnSummary) => void;
  /** What could not be done for a caller who is gone. */
  readonly report: (error: unknown) => void;
  /** In place of chance, for those who compare answers byte for byte. */
  readonly newSessionId?: () => string;
}

export interface TurnSummary {
  readonly outcome: string;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface ResponsesSettings {
  /** Whether a session that is not known here may be gone on with under its id, where the agent may know it. */
  readonly adoptSessions: boolean;
  /** What becomes of a conversation that nobody here knows. */
  readonly foreignHistory: "replay" | "reject" | "ignore";
  /** Agents that are told the whole conversation every time: who names a session is refused, but for results of its open calls. */
  readonly statelessAgents: readonly string[];
  /** Trace mode of responses whose request and key name none. */
  readonly trace: TraceMode;
  /** What becomes of a turn whose caller hangs up, and that nobody else follows. */
  readonly onDisconnect: "cancel" | "finish";
  /** How long a prompt waits for the turn before it. */
  readonly queueMs: number;
  /** How long an approval waits for somebody when nobody is there but the caller. */
  readonly approvalMs: number;
  /** How long an answer is held back so that a failure can still be its status. */
  readonly holdMs: number;
  readonly heartbeatMs: number;
  /** A reader that takes nothing for so long is cut off. */
  readonly stalledMs: number;
}

const DEFAULT_SETTINGS: ResponsesSettings = {
  adoptSessions: false,
  foreignHistory: "replay",
  statelessAgents: [],
  // Agent frameworks take a function call item for one that they have to run themselves.
  trace: "mcp",
  onDisconnect: "cancel",
  queueMs: 30_000,
  approvalMs: 60_000,
  holdMs: 10_000,
  heartbeatMs: 15_000,
  stalledMs: DEFAULT_STALLED_MS,
};

export function resolveSettings({
  settings,
}: Pick<ResponsesOptions, "settings">): ResponsesSettings {
  return { ...DEFAULT_SETTINGS, ...settings };
}
