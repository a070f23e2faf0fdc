import { isObject } from "../data/json.ts";

/** One thing that an agent means to do. */
export interface PlanEntry {
  readonly content: string;
  readonly status: PlanStatus;
  readonly priority: PlanPriority;
}

export const PLAN_STATUSES = [
  "pending",
  "in_progress",
  "completed",
  /** It cannot go on for now. */
  "blocked",
  /** It is not meant to be done any more. */
  "cancelled",
] as const;

export type PlanStatus = (typeof PLAN_STATUSES)[number];

export const PLAN_PRIORITIES = ["high", "medium", "low"] as const;

export type PlanPriority = (typeof PLAN_PRIORITIES)[number];

/** A plan is told whole each time, to everybody. */
export const MAX_ENTRIES = 64;
export const MAX_ENTRY_LENGTH = 1000;

/** A plan as far as it can be read: what its maker leaves open has its usual meaning, and what is too much is left out. */
export function readPlan(value: unknown): readonly PlanEntry[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_ENTRIES).flatMap((entry: unknown): PlanEntry[] => {
    if (!isObject(entry)) return [];
    const { content, status, priority } = entry;
    if (typeof content !== "string" || content.trim() === "") return [];
    return [
      {
        content: content.slice(0, MAX_ENTRY_LENGTH),
        status: PLAN_STATUSES.find((known) => known === status) ?? "pending",
        priority: PLAN_PRIORITIES.find((known) => known === priority) ?? "medium",
      },
    ];
  });
}
