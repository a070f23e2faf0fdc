import { toJsonText, type JsonValue } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { SchemaError } from "../../data/schema-error.ts";
import { boolean, object, optional, string } from "../../data/schema-reader.ts";
import { BUDGET_CAPS_SCHEMA, type BudgetCaps } from "../budget.ts";

/** A task for a worker. */
export interface DelegateRequest {
  readonly task: string;
  /** Default: the first line of the task. */
  readonly name?: string;
  /** Default: the first agent of the configuration. */
  readonly agent?: string;
  /** Label of the kind of work, for hosts. Default: `delegated_stage`. */
  readonly mode?: string;
  readonly isBackground: boolean;
  readonly isRetriggerable: boolean;
  readonly budget?: BudgetCaps;
}

export const DEFAULT_WORKER_MODE = "delegated_stage";
export const MAX_TASK_LENGTH = 64 * 1024;
export const MAX_WORKER_NAME_LENGTH = 64;

const NAME = optional(string({ isFilled: true, max: MAX_WORKER_NAME_LENGTH }));

const DELEGATE_SCHEMA = object({
  task: string({ isFilled: true, max: MAX_TASK_LENGTH }),
  name: NAME,
  agent: NAME,
  mode: NAME,
  background: optional(boolean()),
  retriggerable: optional(boolean()),
  budget: optional(BUDGET_CAPS_SCHEMA),
});

/** Reads the arguments of `delegate`. Returns the problem of invalid arguments. */
export function readDelegateRequest(value: unknown): DelegateRequest | string {
  try {
    const { task, name, agent, mode, background, retriggerable, budget } = DELEGATE_SCHEMA(
      value,
      "",
    );
    return {
      task,
      isBackground: background === true,
      isRetriggerable: retriggerable === true,
      ...omitUndefined({ name, agent, mode, budget: budget && omitUndefined(budget) }),
    };
  } catch (error) {
    if (error instanceof SchemaError) return error.message;
    throw error;
  }
}

/** The prompt of the next cycle: a text as it is, any other payload as JSON. */
export function formatPayload(payload: JsonValue): string {
  return typeof payload === "string" ? payload : toJsonText(payload);
}

/** Derives the name of a worker from its task. */
export function deriveWorkerName(task: string): string {
  const line = task.trim().split("\n", 1)[0] ?? "";
  const most = MAX_WORKER_NAME_LENGTH;
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
