import type { JsonObject } from "../domain/json.ts";
import type { PolicyContext } from "../domain/policy-decision.ts";
import type { Matcher } from "../domain/policy.ts";

/** Whether a rule speaks of a call. */
export type CallCheck = (call: PolicyContext, input: JsonObject) => boolean;

/** For each key of a matcher how it is compared. */
export type CheckMakers = {
  readonly [Key in keyof Matcher]-?: (wanted: NonNullable<Matcher[Key]>) => CallCheck;
};

/** All that a matcher names has to fit. A key that this version does not know throws: who knows what it would exclude. */
export function allChecks(matcher: Matcher, makers: CheckMakers): CallCheck {
  const checks = Object.entries(matcher).map(([key, wanted]) => {
    const maker = new Map<string, (wanted: never) => CallCheck>(Object.entries(makers)).get(key);
    if (maker === undefined) throw new Error(`${key} is not known`);
    return maker(wanted as never);
  });
  return (call, input) => checks.every((check) => check(call, input));
}
