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
