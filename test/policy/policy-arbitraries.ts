import * as fc from "fast-check";
import type { JsonObject } from "../../src/data/json.ts";
import type { PathFact, PolicyContext } from "../../src/domain/policy/policy-decision.ts";
import {
  SIDE_EFFECTS,
  TOOL_KINDS,
  type Executor,
  type SideEffect,
  type ToolKind,
} from "../../src/domain/tools/tool-traits.ts";
import { createPolicyContext, readCallFacts } from "../../src/policy/facts/tool-call-facts.ts";
import { toolWith } from "./policy-calls.ts";

/** A small vocabulary, so rules often match tool calls. */
const toolPattern = fc.constantFrom("*", "read_*", "edit_file", "run_command", "?", "R*", "*__x");
const pathPattern = fc.constantFrom(
  "**",
  "src/**",
  "src",
  "**/*.ts",
  "docs/*",
  "{src,lib}/**",
  "SRC/a.ts",
);
const commandPattern = fc.constantFrom("*", "git *", "ls", "rm*", "git log ?", "/bin/rm *", "ls *");
const program = fc.constantFrom("*", "git", "rm", "l?", "/bin/rm");
const domain = fc.constantFrom("*", "good.com", "*.good.com");
const url = fc.constantFrom("*://*/*", "https://good.com/*", "https://*.good.com/v1*");

function some<Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> {
  return fc.array(item, { minLength: 1, maxLength: 2 });
}

const argumentTest = fc.oneof(
  fc.record({ equals: fc.constantFrom("x", 5, true) }),
  fc.record({ in: some(fc.constantFrom("x", "y", 5)) }),
  fc.record({ glob: fc.constantFrom("*", "x*") }),
  fc.record({ matches: fc.constantFrom("x", "[xy]+") }),
  fc.record({ at_most: fc.constantFrom(4, 5) }),
  fc.record({ exists: fc.boolean() }),
);

export const matcher = fc.oneof(
  fc.constant(true),
  fc
    .record(
      {
        tool: some(toolPattern),
        tool_kind: some(fc.constantFrom(...TOOL_KINDS)),
        side_effect: some(fc.constantFrom(...SIDE_EFFECTS)),
        path: some(pathPattern),
        command: some(commandPattern),
        command_identity: some(program),
        url: some(url),
        domain: some(domain),
        mcp_server: some(fc.constantFrom("github", "*")),
        capability: some(fc.constantFrom("workspace.*", "a.b")),
        repeat_count_at_least: fc.nat(2),
        method: some(fc.constantFrom("GET", "DELETE")),
        mcp_tool: some(fc.constantFrom("x", "*.x", "x_*")),
        args: fc.oneof(fc.record({ extra: argumentTest }), fc.record({ "extra.f": argumentTest })),
      },
      { requiredKeys: [] },
    )
    .map((keys) => (Object.keys(keys).length === 0 ? true : pruned(keys))),
);

/** At most two keys: a matcher with more keys rarely matches. An allow rule by arguments must name its tool. */
function pruned(keys: { [key: string]: unknown }): { [key: string]: unknown } {
  const firstKeys = Object.fromEntries(Object.entries(keys).slice(0, 2));
  const needsTool = ["args", "method", "repeat_count_at_least"].some((key) => key in firstKeys);
  return needsTool ? { tool: ["*"], ...firstKeys } : firstKeys;
}

const rule = fc.oneof(
  fc.record({ allow: matcher }),
  fc.record({ deny: matcher }),
  fc
    .tuple(matcher, fc.integer({ min: 1, max: 3 }))
    .map(([ask, approvers]) => ({ ask, approval: { approvers } })),
);

const names = fc.array(toolPattern, { maxLength: 2 });

export type Document = { readonly rules?: readonly object[]; readonly [key: string]: unknown };

export const document: fc.Arbitrary<Document> = fc.record(
  {
    rules: fc.array(rule, { maxLength: 4 }),
    auto_approve: names,
    auto_deny: fc.array(fc.constantFrom("run_command", "z*"), { maxLength: 1 }),
    require_approval: fc.array(fc.constantFrom("edit_file", "z*"), { maxLength: 1 }),
    write_path_allowlist: fc.array(pathPattern, { maxLength: 2 }),
    sensitive_path_patterns: fc.array(pathPattern, { maxLength: 1 }),
    allow_sensitive_paths: fc.boolean(),
    external_roots: fc.array(fc.constantFrom("/srv", "/etc"), { maxLength: 1 }),
    allow_external_paths: fc.boolean(),
    allow_unparsed_commands: fc.boolean(),
    repeat_limit: fc.integer({ min: 1, max: 3 }),
    repeat_action: fc.constantFrom("ask", "deny"),
    default: fc.constantFrom("allow", "ask", "deny"),
  },
  { requiredKeys: [] },
);

const place = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .constantFrom("src/a.ts", "src", "lib/b.ts", "docs/c.md", "SRC/a.ts", ".env")
      .map((path) => ({
        location: "inside" as const,
        workspacePath: path,
        hostPath: `/work/${path}`,
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("/etc/hosts", "/srv/x")
      .map((hostPath) => ({ location: "outside" as const, workspacePath: null, hostPath })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("protected" as const, "invalid" as const)
      .map((location) => ({ location, workspacePath: null, hostPath: null })),
  },
);

const input: fc.Arbitrary<JsonObject> = fc.record(
  {
    path: fc.constantFrom("src/a.ts", "x", "src\\a.ts"),
    paths: fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }),
    command: fc.constantFrom(
      "git log",
      "ls; rm x",
      "rm $X",
      "echo `x`",
      "git $X",
      "/bin/rm x",
      "git log > x",
      "ls x|git log",
      "ls x | /bin/rm x",
      "for f in a; do ls $f; done",
      "find . -e$X",
      ["git", "log"],
    ),
    args: fc.constantFrom([], ["log"], "log"),
    method: fc.constantFrom("GET", "delete", "G\u200bET", ["GET"], null),
    url: fc.constantFrom(
      "https://good.com/v1",
      "https://a.good.com/v1/x",
      "http://evil.com",
      "good.com",
      "//good.com/v1",
    ),
    extra: fc.constantFrom(
      "x",
      "X",
      "xy",
      5,
      true,
      null,
      ["x"],
      ["x", "z"],
      {},
      { f: "x" },
      { f: "X" },
      [{ f: 5 }],
      '{"f":"x"}',
    ),
  },
  { requiredKeys: [] },
);

const tool = fc
  .record({
    name: fc.constantFrom("read_file", "edit_file", "run_command", "github__x", "x", "*"),
    executor: fc.constantFrom<Executor | undefined>(undefined, undefined, {
      type: "mcp",
      server: "github",
      tool: "a.x",
    }),
    kind: fc.constantFrom(...TOOL_KINDS, "banana" as ToolKind),
    sideEffect: fc.constantFrom(...SIDE_EFFECTS, "banana" as SideEffect),
    capabilities: fc.subarray(["workspace.read", "a.b"]),
    isDeclared: fc.boolean(),
  })
  .map(({ name, isDeclared, executor, ...traits }) =>
    isDeclared
      ? toolWith(name, executor === undefined ? traits : { ...traits, executor })
      : toolWith(name),
  );

/** A tool call with its resolved paths. */
export const judged: fc.Arbitrary<{ context: PolicyContext; input: JsonObject }> = fc
  .record({
    tool,
    input,
    places: fc.array(place, { minLength: 3, maxLength: 3 }),
    repeats: fc.nat(3),
  })
  .map(({ tool, input, places, repeats }) => {
    const facts = readCallFacts(tool, input);
    const found = facts.pathArguments.map((one, at): PathFact => ({
      argument: one.argument,
      input: one.input,
      ...(places[at] ?? INVALID),
    }));
    return { context: createPolicyContext(facts, found, repeats), input };
  });

const INVALID = { location: "invalid", workspacePath: null, hostPath: null } as const;
