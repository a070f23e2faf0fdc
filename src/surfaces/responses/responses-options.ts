import { DEFAULT_STALLED_MS } from "../../http/server/send-response.ts";
import type { RateLimits } from "../../http/access/rate-limits.ts";
import type { Access } from "../../http/access/access.ts";
import type { ResponsesSettings } from "../../domain/responses-settings.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";

export interface ResponsesOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly access: Access;
  readonly rates?: RateLimits;
  readonly settings?: Partial<ResponsesSettings>;
  /** Called once for each turn submitted here and followed to its end, with its outcome and usage. */
  readonly observe?: (end: TurnSummary) => void;
  /** Receives errors of work whose caller has disconnected. */
  readonly report: (error: unknown) => void;
  /** Generates session ids. Golden tests set a deterministic generator. Default: random. */
  readonly newSessionId?: () => string;
}

export interface TurnSummary {
  readonly outcome: string;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

const DEFAULT_SETTINGS: ResponsesSettings = {
  adoptSessions: false,
  foreignHistory: "replay",
  statelessAgents: [],
  // Agent frameworks try to run a function call item themselves, so tool calls of the agent are shown as MCP items.
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
