import { isObject } from "../../data/json.ts";

/** One step of an agent's plan. */
export interface PlanEntry {
  readonly content: string;
  readonly status: PlanStatus;
  readonly priority: PlanPriority;
}

export const PLAN_STATUSES = [
  "pending",
  "in_progress",
  "completed",
  /** Cannot continue at present. */
  "blocked",
  /** No longer planned. */
  "cancelled",
] as const;

export type PlanStatus = (typeof PLAN_STATUSES)[number];

export const PLAN_PRIORITIES = ["high", "medium", "low"] as const;

export type PlanPriority = (typeof PLAN_PRIORITIES)[number];

/** Limits of a plan. Every update sends the whole plan to every client. */
export const MAX_ENTRIES = 64;
export const MAX_ENTRY_LENGTH = 1000;

/**
 * Reads a plan leniently: missing fields get defaults, invalid entries are skipped, and excess entries and text are
 * cut. Returns undefined if the value is not an array.
 */
export function readPlan(value: unknown): readonly PlanEntry[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, MAX_ENTRIES).flatMap((entry: unknown): PlanEntry[] => {
    if (!isObject(entry)) return [];
    const { content, status, priority } = entry;
    if (typeof content !== "string" || content.trim() === "") return [];
    return [
      {
        content: content.slice(0, MAX_ENTRY_LENGTH).toWellFormed(),
        status: PLAN_STATUSES.find((known) => known === status) ?? "pending",
        priority: PLAN_PRIORITIES.find((known) => known === priority) ?? "medium",
      },
    ];
  });
}
