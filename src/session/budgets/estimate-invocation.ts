import type { AgentBudgets, BudgetAmounts } from "../../domain/budget.ts";

/**
 * The amounts reserved for an invocation: a quarter more than the previous invocation of the session, because the
 * conversation grows, or a default for the first. Tool calls are 0 because each tool call is counted at its start.
 */
export function estimateInvocation(
  last: BudgetAmounts | null,
  budgets: AgentBudgets | undefined,
): BudgetAmounts {
  const fixed = { toolCalls: 0, invocations: 1 } as const;
  if (last !== null && last.tokens > 0) {
    const { tokens, seconds, usd } = last;
    return {
      ...fixed,
      tokens: Math.ceil(tokens * GROWTH),
      seconds: seconds * GROWTH,
      usd: usd * GROWTH,
    };
  }
  const price = budgets?.prices?.output ?? 0;
  const usd = (FIRST_TOKENS * price) / 1_000_000;
  return { ...fixed, tokens: FIRST_TOKENS, seconds: FIRST_SECONDS, usd };
}

const GROWTH = 1.25;
const FIRST_TOKENS = 2000;
const FIRST_SECONDS = 10;
