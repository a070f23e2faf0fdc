import type { Configuration } from "./configuration.ts";

/** A pending change. Its result becomes visible at `dueAt`, computed on read without a timer. */
export interface Change {
  readonly startedAt: number;
  readonly dueAt: number;
  readonly outcome: Outcome;
}

/** `READY`, or a status injected by a test. */
export interface Outcome {
  readonly status: string;
  readonly failureReason?: string;
}

export const SUCCESS: Outcome = { status: "READY" };
/** The result of a deletion. It is never visible, because the resource no longer exists. */
export const DELETED: Outcome = { status: "GONE" };

/** An immutable configuration, numbered from 1. */
export interface HarnessVersion {
  readonly number: number;
  readonly configuration: Configuration;
  readonly change: Change;
}

export interface HarnessEndpoint {
  readonly name: string;
  readonly createdAt: number;
  /** When the endpoint becomes visible to reads, which are eventually consistent. */
  readonly visibleAt: number;
  readonly description?: string;
  readonly tags: Tags;
  /** The versions assigned to the endpoint, oldest first. The last is its target; the last successful one is live. */
  readonly moves: readonly EndpointMove[];
  readonly deletion?: Change;
}

export interface EndpointMove {
  readonly version: number;
  readonly change: Change;
}

export interface Harness {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly visibleAt: number;
  readonly tags: Tags;
  /** Oldest first, at least one. */
  readonly versions: readonly [HarnessVersion, ...HarnessVersion[]];
  readonly endpoints: readonly HarnessEndpoint[];
  readonly deletion?: Change;
}

export interface Tags {
  readonly [name: string]: string;
}

function isDue(change: Change, now: number): boolean {
  return now >= change.dueAt;
}

function hasSucceeded(change: Change, now: number): boolean {
  return isDue(change, now) && change.outcome.status === SUCCESS.status;
}

export function isDeleted({ deletion }: { readonly deletion?: Change }, now: number): boolean {
  return (
    deletion !== undefined && isDue(deletion, now) && deletion.outcome.status === DELETED.status
  );
}

export interface ResourceStatus extends Outcome {
  readonly updatedAt: number;
}

/** The status of a harness: of its deletion if there is one, otherwise of its newest version. */
export function computeHarnessStatus({ versions, deletion }: Harness, now: number): ResourceStatus {
  if (deletion !== undefined) return computeStatus(deletion, "DELETING", now);
  return computeVersionStatus(selectNewest(versions), now);
}

export function computeVersionStatus(
  { number, change }: HarnessVersion,
  now: number,
): ResourceStatus {
  return computeStatus(change, number === 1 ? "CREATING" : "UPDATING", now);
}

export function computeEndpointStatus(
  { moves, deletion }: HarnessEndpoint,
  now: number,
): ResourceStatus {
  if (deletion !== undefined) return computeStatus(deletion, "DELETING", now);
  const move = moves.at(-1);
  if (move === undefined) return { ...SUCCESS, updatedAt: now };
  return computeStatus(move.change, moves.length === 1 ? "CREATING" : "UPDATING", now);
}

function computeStatus(change: Change, pendingStatus: string, now: number): ResourceStatus {
  if (!isDue(change, now)) return { status: pendingStatus, updatedAt: change.startedAt };
  return { ...change.outcome, updatedAt: change.dueAt };
}

export function selectNewest(versions: Harness["versions"]): HarnessVersion {
  return versions.at(-1) ?? versions[0];
}

/** The current version: the newest, unless it failed and an older version succeeded. */
export function selectCurrentVersion({ versions }: Harness, now: number): HarnessVersion {
  const newest = selectNewest(versions);
  if (!isDue(newest.change, now) || hasSucceeded(newest.change, now)) return newest;
  return versions.findLast(({ change }) => hasSucceeded(change, now)) ?? newest;
}

/** The version served by an endpoint. Undefined while its first version is not ready. */
export function selectLiveVersion({ moves }: HarnessEndpoint, now: number): number | undefined {
  return moves.findLast(({ change }) => hasSucceeded(change, now))?.version;
}
