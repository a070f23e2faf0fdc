import { readAgentBudgets, readSessionUsage, readSharedUsage } from "../../bridge/session-usage.ts";
import {
  BUDGET_UNITS,
  formatAmount,
  formatQuantity,
  type AgentBudgets,
  type ScopeUsage,
} from "../../domain/budget.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { findSession, withSessionsContext, type SessionsFlags } from "./sessions-context.ts";

export interface UsageFlags extends SessionsFlags {
  readonly json?: true;
}

/** Prints the usage of a session, or of the newest sessions, and of the budgets of principals and days. */
export async function runSessionsUsage(
  reference: string | undefined,
  flags: UsageFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { sessions, terminal } = run;
    const records =
      reference === undefined
        ? (await sessions.listSessions({ limit: MAX_SESSIONS, parent: null })).sessions
        : [await findSession(reference, run)];
    const usage: ScopeUsage[] = [];
    const budgets = new Map<string, AgentBudgets>();
    for (const { sessionId, agent } of records) {
      usage.push(...(await readSessionUsage(sessions, sessionId)));
      // The newest session has the current budgets of its agent.
      if (budgets.has(agent)) continue;
      budgets.set(agent, (await readAgentBudgets(sessions, sessionId)) ?? {});
    }
    usage.push(...(await readSharedUsage(sessions, budgets)));
    const text = flags.json === true ? formatPrettyJson({ usage }) : formatUsage(usage);
    await terminal.write(
      text === "" ? "No usage is recorded yet\n" : `${text}\n`,
    );
    return 0;
  });
}

/** Sessions whose usage is printed if none is named. */
const MAX_SESSIONS = 20;

function formatUsage(usage: readonly ScopeUsage[]): string {
  return usage
    .map(({ name, used, caps, reservations }) => {
      const lines = BUDGET_UNITS.map((unit) => {
        const cap = caps[unit];
        const share = cap === undefined ? 0 : Math.floor((used[unit] / cap) * 100);
        const amount = formatQuantity(unit, used[unit]);
        return cap === undefined
          ? `  ${amount}`
          : `  ${amount} of ${formatAmount(unit, cap)} (${share} %)`;
      });
      const open = reservations === 0 ? [] : [`  open reservations: ${reservations}`];
      return [toSingleLine(name), ...lines, ...open].join("\n");
    })
    .join("\n");
}
