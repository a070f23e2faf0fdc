import { AbortError } from "../domain/provider/provider-error.ts";
import type { Harness } from "../wire/agentcore/control/control-response.ts";
import { throwInvalidOption } from "../wire/agentcore/check-options.ts";
import { resolveReadiness } from "../wire/agentcore/control/readiness.ts";
import { parseContentDigest } from "./content-name.ts";
import type { HarnessCache } from "./harness-cache.ts";
import { isNotFound } from "./transient.ts";
import type { Poll } from "./poll.ts";

export interface PrunePlan {
  /** Newest first. */
  readonly keptHarnesses: readonly Harness[];
  /** Oldest first, in the order of deletion. */
  readonly harnessesToDelete: readonly Harness[];
}

export interface PruneOptions {
  readonly base: string;
  /** Number of newest harnesses to keep, in addition to tagged harnesses. */
  readonly keep: number;
}

type PruneContext = Pick<Poll, "client" | "budget" | "report">;

/** Plans a prune. Only names created from exactly this base count; harnesses already being deleted are ignored. */
export async function planPrune(
  { base, keep }: PruneOptions,
  { client, budget, report }: PruneContext,
  cache: HarnessCache,
): Promise<PrunePlan> {
  if (!Number.isInteger(keep) || keep < 1)
    throwInvalidOption("keep", keep, "a whole number above 0");
  const tagged = await cache.listTaggedDigests(base);
  const { items, isComplete } = await client.listHarnesses(budget);
  if (!isComplete) report.warn("The list of harnesses is incomplete; older harnesses may remain");
  const members = items
    .flatMap((harness) => {
      const digest = parseContentDigest(harness.name, base);
      return digest === null ? [] : [{ harness, digest }];
    })
    .filter(({ harness: { status } }) => resolveReadiness(status) !== "deleting")
    .sort((left, right) => readCreationTime(right.harness) - readCreationTime(left.harness));
  const shouldKeep = ({ digest }: { readonly digest: string }, at: number): boolean =>
    at < keep || tagged.has(digest);
  return {
    keptHarnesses: members.filter(shouldKeep).map(({ harness }) => harness),
    harnessesToDelete: members
      .filter((member, at) => !shouldKeep(member, at))
      .map(({ harness }) => harness)
      .toReversed(),
  };
}

/** An unknown age counts as new: a harness kept by mistake can still be deleted later. */
function readCreationTime({ createdAt }: Harness): number {
  const time = Date.parse(createdAt ?? "");
  return Number.isNaN(time) ? Infinity : time;
}

export interface PruneResult {
  readonly deleted: readonly Harness[];
  readonly failed: readonly { readonly harness: Harness; readonly error: Error }[];
}

/** A failed deletion does not stop the others. */
export async function pruneHarnesses(
  { harnessesToDelete }: PrunePlan,
  { client, budget, report }: PruneContext,
  cache: HarnessCache,
): Promise<PruneResult> {
  const deleted: Harness[] = [];
  const failed: PruneResult["failed"][number][] = [];
  for (const harness of harnessesToDelete) {
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
      report.warn(`${harness.name} was deleted, but is still stored: ${String(error)}`);
    });
  }
  return { deleted, failed };
}
