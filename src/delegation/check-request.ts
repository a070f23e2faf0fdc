import { toJsonText } from "../data/json.ts";
import { formatValue } from "../text/format-value.ts";
import { DelegationError } from "./delegation-error.ts";
import type { DelegationRequest, ExternalBudget } from "./external-agent.ts";

const CAPS = ["max_usd", "max_tokens", "max_seconds", "max_tool_calls"] as const;

/** Limits of a request. */
const MAX_TASK_LENGTH = 100_000;
const MAX_KEY_LENGTH = 200;
/** Characters of the scope, the context and the metadata as JSON. */
const MAX_DETAIL_LENGTH = 256 * 1024;

/** Throws `invalid_request` before anything is sent. */
export function checkRequest(request: DelegationRequest): void {
  const { target, task, budget, idempotency_key: key, expected_scope, context, metadata } = request;
  if (!URL.canParse(target) || !/^https?:$/.test(new URL(target).protocol))
    throw createInvalidError(`target is ${formatValue(target)}: expected the URL of an agent`);
  if (task.trim() === "" || task.length > MAX_TASK_LENGTH)
    throw createInvalidError(
      `task has ${task.length} characters: expected 1 to ${MAX_TASK_LENGTH}`,
    );
  if (key.trim() === "" || key.length > MAX_KEY_LENGTH)
    throw createInvalidError(
      `idempotency_key is ${formatValue(key)}: expected 1 to ${MAX_KEY_LENGTH} characters`,
    );
  checkBudget(budget);
  const details = { expected_scope, context, metadata };
  if (toJsonText(details).length > MAX_DETAIL_LENGTH)
    throw createInvalidError(
      `expected_scope, context and metadata are longer than ${MAX_DETAIL_LENGTH} characters`,
    );
}

function checkBudget(budget: ExternalBudget): void {
  for (const name of CAPS) {
    const cap = budget[name];
    if (cap !== undefined && !(Number.isFinite(cap) && cap >= 0))
      throw createInvalidError(
        `budget.${name} is ${formatValue(cap)}: expected a number of 0 or more`,
      );
  }
  if (CAPS.some((name) => (budget[name] ?? 0) > 0)) return;
  throw createInvalidError(`The budget has no positive cap: expected one of ${CAPS.join(", ")}`);
}

function createInvalidError(message: string): DelegationError {
  return new DelegationError("invalid_request", message);
}
