import { AbortError } from "../domain/provider-error.ts";
import type { Harness } from "../wire/agentcore/control-answer.ts";
import { refuse } from "../wire/agentcore/check.ts";
import { readinessOf } from "../wire/agentcore/control-status.ts";
import { digestIn } from "./content-name.ts";
import type { HarnessCache } from "./harness-cache.ts";
import { isNotFound } from "./transient.ts";
import type { Waiting } from "./waiting.ts";

export interface PrunePlan {
  /** Newest first. */
  readonly kept: readonly Harness[];
  /** Oldest first, which is the order in which they go. */
  readonly doomed: readonly Harness[];
}

export interface PruneOptions {
  readonly base: string;
  /** How many of the newest stay, beside those that have a tag. */
  readonly keep: number;
}

type Caller = Pick<Waiting, "client" | "budget" | "report">;

/** Only names that were made from exactly this base count. What is being deleted already counts for nothing. */
export async function planPrune(
  { base, keep }: PruneOptions,
  { client, budget, report }: Caller,
  cache: HarnessCache,
): Promise<PrunePlan> {
  if (!Number.isInteger(keep) || keep < 1) refuse("keep", keep, "a whole number above 0");
  const tagged = await cache.taggedDigests(base);
  const { items, isComplete } = await client.listHarnesses(budget);
  if (!isComplete) report.warn("The list of harnesses is not complete; older ones may be left");
  const members = items
    .flatMap((harness) => {
      const digest = digestIn(harness.name, base);
      return digest === null ? [] : [{ harness, digest }];
    })
    .filter(({ harness: { status } }) => readinessOf(status) !== "deleting")
    .sort((left, right) => ageOf(right.harness) - ageOf(left.harness));
  const isKept = ({ digest }: { readonly digest: string }, at: number): boolean =>
    at < keep || tagged.has(digest);
  return {
    kept: members.filter(isKept).map(({ harness }) => harness),
    doomed: members
      .filter((member, at) => !isKept(member, at))
      .map(({ harness }) => harness)
      .toReversed(),
  };
}

/** One whose age nobody knows is taken for new: what is kept by mistake can still be deleted. */
function ageOf({ createdAt }: Harness): number {
  const time = Date.parse(createdAt ?? "");
  return Number.isNaN(time) ? Infinity : time;
}

export interface Pruned {
  readonly deleted: readonly Harness[];
  readonly failed: readonly { readonly harness: Harness; readonly error: Error }[];
}

/** One that cannot be deleted does not save the others. */
export async function prune(
  { doomed }: PrunePlan,
  { client, budget, report }: Caller,
  cache: HarnessCache,
): Promise<Pruned> {
  const deleted: Harness[] = [];
  const failed: Pruned["failed"][number][] = [];
  for (const harness of doomed) {
    try {
      await client.deleteHarness(harness.id, budget);
    } catch (error) {
      if (budget.signal.aborted && !budget.isSpent) throw new AbortError(budget.signal.reason);
      if (!isNotFound(error)) {
        failed.push({ harness, error: error instanceof Error ? error : new Error(String(error)) });
        continue;
      }
    }
    deleted.push(harness);
    await cache.forget(harness.name).catch((error: unknown) => {
      report.warn(`${harness.name} is deleted, but still remembered: ${String(error)}`);
    });
  }
  return { deleted, failed };
}
