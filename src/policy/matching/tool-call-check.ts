import type { JsonObject } from "../../data/json.ts";
import type { PolicyContext } from "../../domain/policy/policy-decision.ts";
import type { Matcher } from "../../domain/policy/policy.ts";

/** Whether a rule matches a tool call. */
export type ToolCallCheck = (call: PolicyContext, input: JsonObject) => boolean;

/** Creates the check for each key of a matcher. */
export type CheckFactories = {
  readonly [Key in keyof Matcher]-?: (expected: NonNullable<Matcher[Key]>) => ToolCallCheck;
};

/**
 * All keys of a matcher must match. Throws on an unknown key: ignoring a key of a newer version could widen an `allow`
 * rule.
 */
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
