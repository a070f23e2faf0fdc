import { describe, expect, it } from "vitest";
import { decide, outcomeOf, type Row } from "./policy-calls.ts";
import { ARGUMENT_CASES } from "./cases/arguments.ts";
import { COMMAND_CASES } from "./cases/commands.ts";
import { GUARD_CASES } from "./cases/path-checks.ts";
import { MERGED_CASES } from "./cases/merged.ts";
import { NETWORK_CASES } from "./cases/network.ts";
import { PATH_CASES } from "./cases/paths.ts";
import { TOOL_CASES } from "./cases/tools.ts";

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ["Path rules", PATH_CASES],
  ["Path checks", GUARD_CASES],
  ["Command rules", COMMAND_CASES],
  ["Tool rules", TOOL_CASES],
  ["Network rules", NETWORK_CASES],
  ["Argument rules", ARGUMENT_CASES],
  ["Merged policies", MERGED_CASES],
];

describe.each(TABLES)("%s", (_, rows) => {
  const cases = rows.map(([title, policy, call, expected, labels]) => {
    return [title, { policy, call, expected, labels }] as const;
  });

  it.each(cases)("%s", (_, { policy, call, expected, labels }) => {
    const decision = decide(policy, call);
    expect(outcomeOf(decision)).toBe(expected);
    expect(decision.labels).toEqual(labels ?? decision.labels);
  });
});
