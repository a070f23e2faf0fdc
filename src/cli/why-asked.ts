import { isObject } from "../domain/json.ts";
import { MODE_SOURCE } from "../domain/session-mode.ts";

/** What a decision says of why somebody is asked. */
export interface AskedBecause {
  readonly reason: string;
  /** The rule that asks, as it came; null where none does and the default holds. */
  readonly rule: object | null;
  readonly labels: readonly string[];
}

/** Why somebody is asked, for who has not written the policy. */
export function whyAsked({ reason, rule, labels }: AskedBecause): string {
  const { source, index } = placeOf(rule);
  const byRule = `${source}[${index}] asks about `;
  const words = reason.startsWith(byRule)
    ? `A rule of the policy asks about ${reason.slice(byRule.length)} (${source}, entry ${index + 1})`
    : reason;
  // The mode asks beside the policy: what was allowed for good is asked about all the same.
  if (!labels.includes(MODE_SOURCE) || source === MODE_SOURCE) return words;
  return source === "" ? IN_MODE : `${IN_MODE}. ${words}`;
}

function placeOf(rule: AskedBecause["rule"]): { readonly source: string; readonly index: number } {
  const { source, index } = isObject(rule) ? rule : {};
  return {
    source: typeof source === "string" ? source : "",
    index: typeof index === "number" ? index : 0,
  };
}

const IN_MODE = 'The session is in the mode "ask"';
