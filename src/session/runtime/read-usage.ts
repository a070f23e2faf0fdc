import {
  LOCAL_SCOPES,
  SHARED_SCOPES,
  type BudgetCaps,
  type ScopeUsage,
} from "../../domain/budget.ts";
import type { RecordStore } from "../../store/record-store.ts";
import { formatDay } from "../../text/format-iso-time.ts";
import { selectTighterCaps } from "../budgets/budget-levels.ts";
import { BUDGET_RECORDS, createBudgetKey, readBudgetRecord } from "../budgets/budget-record.ts";
import type { SessionState } from "../session-state.ts";
import { hasCaps } from "../budgets/budgets-state.ts";

interface UsageContext {
  readonly sessionId: string;
  readonly store: Pick<RecordStore, "readRecord">;
  /** The day of the budgets, in milliseconds since 1970. */
  readonly now: number;
}

/** The usage of a session and its turn, and of the budgets it shares today with other sessions of its principal. */
export async function readUsage(
  state: SessionState,
  { sessionId, store, now }: UsageContext,
): Promise<readonly ScopeUsage[]> {
  const { name: agent = "", budgets = {} } = state.agent?.spec ?? {};
  const owner = { agent, principal: state.principal, day: formatDay(now) };
  const scopes = SHARED_SCOPES.filter((scope) => hasCaps(budgets[scope]));
  const shared = scopes.map(async (scope) => {
    const key = createBudgetKey({ ...owner, scope });
    const stored = await store.readRecord(BUDGET_RECORDS, key);
    return describeRecord(key, stored?.value, budgets[scope]);
  });
  return [...describeLocalUsage(sessionId, state), ...(await Promise.all(shared))];
}

/** The usage of a session and of its running or last turn. */
export function describeLocalUsage(
  sessionId: string,
  { budgets, agent, turn }: SessionState,
): readonly ScopeUsage[] {
  return LOCAL_SCOPES.map((scope) => {
    const raised = budgets.raisedCaps.filter((entry) => entry.scope === scope);
    const requested = scope === "turn" ? turn.current?.options?.budget : undefined;
    const caps = {
      ...selectTighterCaps(agent?.spec.budgets?.[scope], requested),
      ...Object.fromEntries(raised.map(({ unit, cap }) => [unit, cap])),
    };
    return { name: `${scope} ${sessionId}`, used: budgets[scope], caps, reservations: 0 };
  });
}

/** The usage in the record of a shared budget. */
export function describeRecord(
  key: string,
  value: Parameters<typeof readBudgetRecord>[0],
  configured: BudgetCaps | undefined,
): ScopeUsage {
  const { used, raised, sessions } = readBudgetRecord(value);
  const open = Object.values(sessions).filter(({ isSettled }) => isSettled !== true);
  const name = parseKey(key).join(" ");
  return { name, used, caps: { ...configured, ...raised }, reservations: open.length };
}

/** The scope of a record, its agent, and the day or the principal. */
export function parseKey(key: string): readonly string[] {
  const parts: unknown = JSON.parse(key);
  return Array.isArray(parts) ? parts.map(String) : [key];
}
