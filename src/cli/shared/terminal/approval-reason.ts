import { isObject } from "../../../data/json.ts";
import { MODE_SOURCE } from "../../../domain/session-mode.ts";

/** What a decision says of why somebody is asked. */
export interface ApprovalReason {
  readonly reason: string;
  /** The rule that asks, as it came; null where none does and the default holds. */
  readonly rule: object | null;
  readonly labels: readonly string[];
}

/** Why somebody is asked: the mode asks beside the policy, also about what was allowed for good. */
export function formatApprovalReason({ reason, rule, labels }: ApprovalReason): string {
  const source = isObject(rule) ? rule["source"] : undefined;
  if (!labels.includes(MODE_SOURCE) || source === MODE_SOURCE) return reason;
  return source === undefined ? ASK_MODE_REASON : `${ASK_MODE_REASON}. ${reason}`;
}

const ASK_MODE_REASON = 'The session is in the mode "ask"';
