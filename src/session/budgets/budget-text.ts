import {
  type BudgetLevel,
  type BudgetScope,
  type BudgetUnit,
  formatAmount,
  formatQuantity,
  formatUnit,
} from "../../domain/budget.ts";

/** `budget_tokens` and so on: the reason of a turn which ends at a budget. */
export function formatBudgetReason(unit: BudgetUnit): string {
  return REASONS[unit];
}

const REASONS: { readonly [Unit in BudgetUnit]: string } = {
  tokens: "budget_tokens",
  seconds: "budget_seconds",
  toolCalls: "budget_tool_calls",
  invocations: "budget_invocations",
  usd: "budget_usd",
};

/** Formats the question: "This turn has used 1,100 of 1,000 tokens; continue with 1,000 more tokens?" */
export function formatBudgetQuestion(level: BudgetLevel, extension: number): string {
  const { unit } = level;
  const more = unit === "usd" ? " more" : ` more ${formatUnit(unit, extension)}`;
  return `${formatUse(level)}; continue with ${formatAmount(unit, extension)}${more}?`;
}

export function formatReachedReason({ scope }: BudgetLevel): string {
  return `The budget of ${SCOPES[scope]} is used.`;
}

/** Formats the reminder for the agent. */
export function formatBudgetReminder(level: BudgetLevel): string {
  return `${formatUse(level)}. Finish the most important work first.`;
}

const SCOPES: { readonly [Scope in BudgetScope]: string } = {
  turn: "this turn",
  session: "this session",
  principal: "this user",
  day: "this day",
  principalDay: "this user for this day",
};

function formatUse({ scope, unit, used, cap }: BudgetLevel): string {
  return `${USERS[scope]} used ${formatAmount(unit, used)} of ${formatQuantity(unit, cap)}`;
}

const USERS: { readonly [Scope in BudgetScope]: string } = {
  turn: "This turn has",
  session: "This session has",
  principal: "This user has",
  day: "All users have today",
  principalDay: "This user has today",
};

/** Start of the dedupe keys of the reminders about budgets. */
export const BUDGET_REMINDER_KEY = "budget.";

export function createReminderKey(scope: BudgetScope, unit: BudgetUnit): string {
  return `${BUDGET_REMINDER_KEY}${scope}.${unit}`;
}
