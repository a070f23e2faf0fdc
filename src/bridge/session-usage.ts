import { SHARED_SCOPES, type AgentBudgets, type ScopeUsage } from "../domain/budget.ts";
import { BUDGET_RECORDS } from "../session/budgets/budget-record.ts";
import { loadState } from "../session/runtime/log/load-state.ts";
import { describeLocalUsage, describeRecord, parseKey } from "../session/runtime/read-usage.ts";
import type { Store } from "../store/store.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

/** The usage of a session and of its running or last turn. */
export async function readSessionUsage(
  store: Pick<Store, "readHead"> & Parameters<typeof loadState>[0],
  sessionId: string,
): Promise<readonly ScopeUsage[]> {
  const head = await store.readHead(sessionId);
  if (head === undefined) return [];
  return describeLocalUsage(
    sessionId,
    await loadState(store, sessionId, { ...head, report: () => {} }),
  );
}

/** The budgets of principals and days. `budgets` are the caps of each agent, as far as known. */
export async function readSharedUsage(
  store: Pick<Store, "listRecords">,
  budgets: ReadonlyMap<string, AgentBudgets>,
): Promise<readonly ScopeUsage[]> {
  const usage: ScopeUsage[] = [];
  let afterKey: string | undefined;
  do {
    const query = { scope: BUDGET_RECORDS, limit: PAGE_SIZE };
    const page = await store.listRecords({ ...query, ...omitUndefined({ afterKey }) });
    for (const { key, value } of page.records) {
      const [scope, agent = ""] = parseKey(key);
      const shared = SHARED_SCOPES.find((known) => known === scope);
      const configured = shared === undefined ? undefined : budgets.get(agent)?.[shared];
      usage.push(describeRecord(key, value, configured));
    }
    afterKey = page.nextKey;
  } while (afterKey !== undefined);
  return usage;
}

const PAGE_SIZE = 100;

/** The budgets of the agent of a session, from its log. */
export async function readAgentBudgets(
  store: Pick<Store, "readHead"> & Parameters<typeof loadState>[0],
  sessionId: string,
): Promise<AgentBudgets | undefined> {
  const head = await store.readHead(sessionId);
  if (head === undefined) return undefined;
  const { agent } = await loadState(store, sessionId, { ...head, report: () => {} });
  return agent?.spec.budgets;
}
