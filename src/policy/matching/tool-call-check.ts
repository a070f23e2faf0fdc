import type { JsonObject } from "../../data/json.ts";
import type { PolicyContext } from "../../domain/policy/policy-decision.ts";
import type { Matcher } from "../../domain/policy/policy.ts";

/** Whether a rule speaks of a call. */
export type ToolCallCheck = (call: PolicyContext, input: JsonObject) => boolean;

/** For each key of a matcher how it is compared. */
export type CheckFactories = {
  readonly [Key in keyof Matcher]-?: (expected: NonNullable<Matcher[Key]>) => ToolCallCheck;
};

/** All that a matcher names has to fit. A key that this version does not know throws: who knows what it would exclude. */
export function createMatcherCheck(matcher: Matcher, factories: CheckFactories): ToolCallCheck {
  const checks = Object.entries(matcher).map(([key, expected]) => {
    const maker = new Map<string, (expected: never) => ToolCallCheck>(
      Object.entries(factories),
    ).get(key);
    if (maker === undefined) throw new Error(`${key} is not known`);
    return maker(expected as never);
  });
  return (call, input) => checks.every((check) => check(call, input));
}
