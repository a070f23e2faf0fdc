import { isObject, type JsonObject, type JsonValue } from "../data/json.ts";
import { formatValue } from "../text/format-value.ts";
import { DelegationError } from "./delegation-error.ts";
import type { BudgetUsed, Checkpoint } from "./external-agent.ts";

/** Reads the checkpoint of a peer. Throws `protocol` without an id or a plan. */
export function readCheckpoint(value: JsonValue): Omit<Checkpoint, "plan_hash" | "is_local"> {
  const fields: JsonObject = isObject(value) ? value : {};
  const { checkpoint_id: id, plan, expected_scope = null, evidence_refs, metadata } = fields;
  if (typeof id !== "string" || id === "")
    throw createProtocolError(`checkpoint_id is ${formatValue(id)}: expected a string`);
  if (plan === undefined || plan === null || plan === "")
    throw createProtocolError("The checkpoint has no plan: expected text or data to approve");
  return {
    checkpoint_id: id,
    plan,
    expected_scope,
    evidence_refs: isList(evidence_refs) ? evidence_refs : [],
    metadata: isJsonObject(metadata) ? metadata : {},
  };
}

/** The result of a dispatch. */
export interface DispatchReply {
  readonly handoff: JsonValue;
  readonly artifacts: readonly JsonValue[];
  /** The change as text. Null if the peer sent none. */
  readonly diff: string | null;
  readonly receipts: readonly JsonValue[];
  /** Null if the peer reported no usable amount. */
  readonly used: BudgetUsed | null;
  /** True if the budget ended the work, according to the peer. */
  readonly isOverBudget: boolean;
}

/** Reads the result of a dispatch. Throws `protocol` without a handoff, because the result could not be reviewed. */
export function readDispatchReply(value: JsonValue): DispatchReply {
  const fields: JsonObject = isObject(value) ? value : {};
  const { handoff, artifacts, diff, patch, receipts, status } = fields;
  if (handoff === undefined || handoff === null)
    throw createProtocolError("The result has no handoff: expected text or data to review");
  const change = [diff, patch].find((text) => typeof text === "string" && text !== "");
  return {
    handoff,
    artifacts: isList(artifacts) ? artifacts : [],
    diff: typeof change === "string" ? change : null,
    receipts: isList(receipts) ? receipts : [],
    used: readBudgetUsed(fields),
    isOverBudget: status === "budget_exceeded",
  };
}

/** The amounts in their three known places, with their known names. */
function readBudgetUsed({ budget_used, budget, usage }: JsonObject): BudgetUsed | null {
  const budgetUsed = isObject(budget) ? budget["used"] : undefined;
  for (const value of [budget_used, budgetUsed, usage]) {
    if (!isObject(value)) continue;
    const amounts = {
      usd: readAmount(value, ["usd", "cost_usd", "dollars"]),
      tokens: readAmount(value, ["tokens", "total_tokens", "totalTokens"]),
      seconds: readAmount(value, ["seconds", "duration_seconds"]),
      tool_calls: readAmount(value, ["tool_calls", "toolCalls"]),
    };
    const known = Object.entries(amounts).filter(([, amount]) => amount !== undefined);
    if (known.length > 0) return Object.fromEntries(known);
  }
  return null;
}

function readAmount(
  value: { readonly [key: string]: unknown },
  names: readonly string[],
): number | undefined {
  const amount = names.map((name) => value[name]).find((entry) => entry !== undefined);
  return typeof amount === "number" && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value);
}

function createProtocolError(message: string): DelegationError {
  return new DelegationError("protocol", message);
}
