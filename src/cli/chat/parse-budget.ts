import { SchemaError } from "../../data/schema-error.ts";
import { BUDGET_CAPS_SCHEMA } from "../../domain/budget.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { BudgetCaps } from "../../host/index.ts";

/** Parses a budget such as `tokens=20000,toolCalls=10`. Throws `invalid_option`. */
export function parseBudget(text: string): BudgetCaps {
  const pairs = text.split(",").map((pair) => pair.split("="));
  const caps = pairs.map(([unit = "", amount = ""]) => [unit.trim(), parseAmount(amount)] as const);
  try {
    if (new Set(caps.map(([unit]) => unit)).size < caps.length)
      throw createError("names a unit twice");
    if (pairs.some((pair) => pair.length !== 2)) throw createError("is not a list of UNIT=AMOUNT");
    return BUDGET_CAPS_SCHEMA(Object.fromEntries(caps), "budget");
  } catch (error) {
    if (error instanceof SchemaError) throw createError(`is not valid: ${error.issues[0].message}`);
    throw error;
  }
}

/** An invalid number stays a string, so the error message shows the string. */
function parseAmount(text: string): number | string {
  const amount = Number(text);
  return text.trim() === "" || Number.isNaN(amount) ? text : amount;
}

function createError(problem: string): SpanlineError {
  const message = `--budget ${problem}. Fix: --budget tokens=20000,toolCalls=10`;
  return new SpanlineError("invalid_option", message);
}
