import type { ApprovalDecision } from "../../../domain/policy/approval-decision.ts";
import type { LiveError } from "../../../wire/live/live-frames.ts";
import type { ActionResult, ApprovalChoice } from "../../state/session-actions.ts";

/** The decisions sent by this page, with their results. */
export interface DecisionLog {
  /** By the key of the request. */
  readonly statuses: ReadonlyMap<string, DecisionStatus>;
  /** Accepted decisions, newest first. */
  readonly history: readonly DecisionRecord[];
}

/**
 * - `sending`: the server has not replied.
 * - `sent`: the server accepted the decision. The closed request, or its new vote, has not arrived.
 * - `failed`: the server refused the decision, or was not reached.
 */
export type DecisionStatus =
  | { readonly phase: "sending" | "sent"; readonly label: string; readonly votes: number }
  | { readonly phase: "failed"; readonly error: LiveError; readonly votes: number };

export interface DecisionRecord {
  readonly key: string;
  readonly sessionId: string;
  /** The decision in words, such as `Allow`. */
  readonly label: string;
  readonly isApproval: boolean;
  /** The sentence of the request. */
  readonly sentence: string;
  readonly at: number;
}

/** The request of a decision. */
export interface DecidedRequest {
  readonly key: string;
  readonly votes: number;
  readonly label: string;
}

export const EMPTY_LOG: DecisionLog = { statuses: new Map(), history: [] };

const MAX_HISTORY = 20;

export type DecisionLogChange =
  | { readonly type: "started"; readonly request: DecidedRequest }
  | {
      readonly type: "finished";
      readonly request: DecidedRequest;
      readonly result: ActionResult;
      readonly record: DecisionRecord;
    }
  | { readonly type: "dismissed"; readonly key: string }
  /** The open requests: their number of votes by key. */
  | { readonly type: "listed"; readonly open: ReadonlyMap<string, number> }
  | { readonly type: "reconnected" };

export function changeDecisionLog(log: DecisionLog, change: DecisionLogChange): DecisionLog {
  switch (change.type) {
    case "started": {
      const { key, label, votes } = change.request;
      return withStatus(log, key, { phase: "sending", label, votes });
    }
    case "finished":
      return finish(log, change);
    case "dismissed":
      return withStatus(log, change.key, undefined);
    case "listed":
      return keepValid(log, ({ votes }, key) => change.open.get(key) === votes);
    case "reconnected":
      return keepValid(log, ({ phase }) => phase !== "failed");
  }
}

function finish(
  log: DecisionLog,
  { request, result, record }: Extract<DecisionLogChange, { readonly type: "finished" }>,
): DecisionLog {
  const { key, votes, label } = request;
  // The server may remove the request, or show the vote, before its reply arrives.
  const isListed = log.statuses.has(key);
  if (!result.ok)
    return isListed ? withStatus(log, key, { phase: "failed", error: result.error, votes }) : log;
  const next = isListed ? withStatus(log, key, { phase: "sent", label, votes }) : log;
  return { ...next, history: [record, ...log.history].slice(0, MAX_HISTORY) };
}

function withStatus(
  log: DecisionLog,
  key: string,
  status: DecisionStatus | undefined,
): DecisionLog {
  const statuses = new Map(log.statuses);
  if (status === undefined) statuses.delete(key);
  else statuses.set(key, status);
  return { ...log, statuses };
}

/** Removes outdated statuses. Returns the same log if all statuses are valid. */
function keepValid(
  log: DecisionLog,
  isValid: (status: DecisionStatus, key: string) => boolean,
): DecisionLog {
  const valid = [...log.statuses].filter(([key, status]) => isValid(status, key));
  return valid.length === log.statuses.size ? log : { ...log, statuses: new Map(valid) };
}

/** Whether a decision was sent and has not failed. A second decision is then not sent. */
export function isSettling(status: DecisionStatus | undefined): boolean {
  return status !== undefined && status.phase !== "failed";
}

const DENIALS: ReadonlySet<ApprovalDecision> = new Set(["deny", "stop", "decline", "failed"]);

/** Whether a choice says yes, for the icon of the history. */
export function isApproval({ decision }: ApprovalChoice): boolean {
  return decision === undefined || !DENIALS.has(decision);
}
