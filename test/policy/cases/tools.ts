import type { ToolKind } from "../../../src/domain/tools/tool-traits.ts";
import { call, calling, edit, read, run, toolWith, type Row } from "../policy-calls.ts";

const askByDefault = "ask by default";
const deny = (matcher: unknown): object => ({
  rules: [{ id: "it", deny: matcher }],
  default: "allow",
});
const allow = (matcher: unknown): object => ({ rules: [{ id: "it", allow: matcher }] });

const github = toolWith("github__create_issue", {
  kind: "other",
  sideEffect: "network",
  executor: { type: "mcp", server: "github" },
});
const posing = toolWith("github__read", {
  kind: "read",
  sideEffect: "none",
  executor: { type: "mcp", server: "evil" },
});
const dropAll = toolWith("my_db__drop_all_12effa9e", {
  kind: "other",
  sideEffect: "network",
  executor: { type: "mcp", server: "my db", tool: "drop all" },
});
const host = toolWith("github__read", {
  kind: "read",
  sideEffect: "none",
  executor: { type: "host" },
});
const proxied = toolWith("host__Read", {
  kind: "other",
  sideEffect: "network",
  executor: { type: "host", server: "files", tool: "Read" },
});
const writer = toolWith("notes", {
  kind: "edit",
  sideEffect: "workspace_write",
  capabilities: ["workspace.read_text", "workspace.write_text"],
});

/** Tool names are matched as a whole and literally. */
const NAMES: readonly Row[] = [
  ["A tool name matches itself", allow("get_weather"), call("get_weather"), "allow by rules:it"],
  ["A tool name does not match a longer name", allow("get"), call("get_weather"), askByDefault],
  [
    "A star matches the rest of a name [W-03]",
    allow("get_*"),
    call("get_weather"),
    "allow by rules:it",
  ],
  [
    "A star in the middle of a name matches [W-03]",
    allow("get_*_now"),
    call("get_weather_now"),
    "allow by rules:it",
  ],
  ["A star matches an empty string", allow("get*"), call("get"), "allow by rules:it"],
  ["A star matches a slash in a tool name", deny("a*"), call("a/b"), "deny by rules:it"],
  ["A question mark matches one character", allow("get_?"), call("get_x"), "allow by rules:it"],
  ["A question mark does not match an empty string", allow("get_?"), call("get_"), askByDefault],
  ["Several names are alternatives", allow(["a", "b"]), call("b"), "allow by rules:it"],
  ["A deny rule ignores letter case", deny("delete_*"), call("Delete_All"), "deny by rules:it"],
  ["An allow rule is case-sensitive", allow("get_*"), call("GET_x"), askByDefault],
  [
    "A deny rule matches a name with a line break",
    deny("delete*"),
    call("delete\nall"),
    "deny by rules:it",
  ],
  ["A name with a line break is a different name", allow("get"), call("get\n"), askByDefault],
  [
    "A tool named * is not a pattern",
    { auto_approve: ["get"], default: "deny" },
    call("*"),
    "deny by default",
  ],
  ["A question mark matches a tool named *", allow("?"), call("*"), "allow by rules:it"],
  ["A tool named [a] is not the tool a", allow("a"), call("[a]"), askByDefault],
  [
    "A tool named __proto__ can be denied",
    deny("__proto__"),
    call("__proto__"),
    "deny by rules:it",
  ],
  [
    "A tool named __proto__ is allowed only by its name",
    allow("get"),
    call("__proto__"),
    askByDefault,
  ],
  [
    "A tool named constructor is allowed only by its name",
    allow("get"),
    call("constructor"),
    askByDefault,
  ],
  [
    "A tool name with letters of another alphabet is a different name",
    allow("get_x"),
    call("gеt_x"),
    askByDefault,
  ],
  [
    "A very long tool name is matched",
    deny("a*b"),
    call(`a${"a".repeat(50_000)}b`),
    "deny by rules:it",
  ],
];

/** Precedence of rules, lists and the default. */
const ORDER: readonly Row[] = [
  [
    "The default of an empty policy is to ask [W-06]",
    {},
    call("x"),
    askByDefault,
    ["approval_required"],
  ],
  [
    "Tools that are not on auto_approve need approval [W-06]",
    { auto_approve: ["get"] },
    call("x"),
    askByDefault,
  ],
  [
    "Empty lists allow nothing [W-06]",
    { auto_approve: [], auto_deny: [], require_approval: [], rules: [] },
    call("x"),
    askByDefault,
  ],
  ["The default can be deny", { default: "deny" }, call("x"), "deny by default", []],
  ["The default can be allow", { default: "allow" }, call("x"), "allow by default", []],
  ["auto_approve allows", { auto_approve: ["x"] }, call("x"), "allow by auto_approve", []],
  [
    "require_approval asks",
    { require_approval: ["x"], default: "allow" },
    call("x"),
    "ask by require_approval",
    ["approval_required"],
  ],
  [
    "auto_deny denies",
    { auto_deny: ["x"], default: "allow" },
    call("x"),
    "deny by auto_deny",
    ["matched_deny_rule"],
  ],
  [
    "deny takes precedence over ask",
    { auto_deny: ["x"], require_approval: ["x"] },
    call("x"),
    "deny by auto_deny",
  ],
  [
    "ask takes precedence over allow",
    { require_approval: ["x"], auto_approve: ["x"] },
    call("x"),
    "ask by require_approval",
  ],
  [
    "deny takes precedence over allow in any order",
    { rules: [{ allow: "x" }, { id: "no", deny: "x" }] },
    call("x"),
    "deny by rules:no",
  ],
  [
    "deny takes precedence over the default",
    { auto_deny: ["x"], default: "allow" },
    call("x"),
    "deny by auto_deny",
  ],
  [
    "An allow takes precedence over a default of deny",
    { auto_approve: ["x"], default: "deny" },
    call("x"),
    "allow by auto_approve",
  ],
  [
    "The first of two matching deny rules is named",
    {
      rules: [
        { id: "one", deny: "x" },
        { id: "two", deny: "*" },
      ],
    },
    call("x"),
    "deny by rules:one",
  ],
  [
    "Rules are named before lists",
    { rules: [{ id: "one", deny: "x" }], auto_deny: ["x"] },
    call("x"),
    "deny by rules:one",
  ],
  [
    "true matches every tool call",
    { rules: [{ id: "all", deny: true }] },
    call("x"),
    "deny by rules:all",
  ],
  [
    "All keys of a rule have to match",
    deny({ tool: "edit_*", path: "src/**" }),
    edit("lib/x"),
    "allow by default",
  ],
  [
    "A rule applies if all its keys match",
    deny({ tool: "edit_*", path: "src/**" }),
    edit("src/x"),
    "deny by rules:it",
  ],
  [
    "action and when are equivalent to deny",
    { rules: [{ name: "it", action: "block", when: { tool: "x" } }] },
    call("x"),
    "deny by rules:it",
  ],
  [
    "approve is equivalent to allow",
    { rules: [{ action: "approve", matches: "x" }] },
    call("x"),
    "allow by rules",
  ],
  [
    "requires_approval is equivalent to ask",
    { rules: [{ action: "requires_approval", match: "x" }], default: "allow" },
    call("x"),
    "ask by rules",
  ],
];

/** Tool traits: kind, side effect, executor and capabilities. */
const TRAITS: readonly Row[] = [
  ["A deny rule matches a tool kind", deny({ tool_kind: "edit" }), edit("x"), "deny by rules:it"],
  [
    "A deny rule does not match another tool kind",
    deny({ tool_kind: ["edit", "delete"] }),
    read("x"),
    "allow by default",
  ],
  [
    "An allow rule matches a tool kind",
    allow({ tool_kind: "read" }),
    read("x"),
    "allow by rules:it",
  ],
  [
    "A tool without traits has no kind that is allowed",
    allow({ tool_kind: ["read", "search"] }),
    call("x"),
    askByDefault,
  ],
  [
    "An unknown tool kind counts as other",
    deny({ tool_kind: "other" }),
    calling(toolWith("x", { kind: "banana" as ToolKind, sideEffect: "none" })),
    "deny by rules:it",
  ],
  [
    "A deny rule matches a side effect",
    deny({ side_effect: "process_exec" }),
    run("ls"),
    "deny by rules:it",
  ],
  [
    "A deny rule does not match another side effect",
    deny({ side_effect: "process_exec" }),
    edit("x"),
    "allow by default",
  ],
  [
    "A tool without traits may use the network [W-08]",
    deny({ side_effect: "network" }),
    call("x"),
    "deny by rules:it",
  ],
  [
    "A tool without traits may write [W-08]",
    deny({ side_effect: "workspace_write" }),
    call("x"),
    "deny by rules:it",
  ],
  [
    "An unknown side effect counts as the most dangerous [W-08]",
    deny({ side_effect: "network" }),
    calling(toolWith("x", { kind: "read", sideEffect: "banana" as "none" })),
    "deny by rules:it",
  ],
  [
    "An unknown side effect does not count as none [W-08]",
    allow({ side_effect: ["none", "read_only"] }),
    calling(toolWith("x", { kind: "read", sideEffect: "banana" as "none" })),
    askByDefault,
  ],
  [
    "A side effect named __proto__ counts as the most dangerous [W-08]",
    allow({ side_effect: "none" }),
    calling(toolWith("x", { kind: "read", sideEffect: "__proto__" as "none" })),
    askByDefault,
  ],
  [
    "The side effect none can be allowed",
    allow({ side_effect: "none" }),
    calling(toolWith("x", { kind: "think", sideEffect: "none" })),
    "allow by rules:it",
  ],
  [
    "One matching capability is enough to deny",
    deny({ capability: "workspace.write_*" }),
    calling(writer),
    "deny by rules:it",
  ],
  [
    "One matching capability is not enough to allow",
    allow({ capability: "workspace.read_*" }),
    calling(writer),
    askByDefault,
  ],
  [
    "An allow rule matches if all capabilities match",
    allow({ capability: "workspace.*" }),
    calling(writer),
    "allow by rules:it",
  ],
  [
    "An allow rule about capabilities does not match a tool without capabilities",
    allow({ capability: "*" }),
    call("x"),
    askByDefault,
  ],
  [
    "A deny rule matches an MCP server",
    deny({ mcp_server: "github" }),
    calling(github),
    "deny by rules:it",
    ["matched_deny_rule", "mcp_rule"],
  ],
  [
    "A deny rule matches a tool of an MCP server",
    deny({ mcp_tool: "create_*" }),
    calling(github),
    "deny by rules:it",
  ],
  [
    "An allow rule matches an MCP server and its tool together",
    allow({ mcp_server: "github", mcp_tool: "create_issue" }),
    calling(github),
    "allow by rules:it",
  ],
  [
    "A tool that only has the server's prefix in its name is not allowed",
    allow({ mcp_server: "github" }),
    calling(posing),
    askByDefault,
  ],
  [
    "A deny rule matches the name that the MCP server gives its tool",
    deny({ mcp_tool: "drop all" }),
    calling(dropAll),
    "deny by rules:it",
  ],
  [
    "A deny rule also matches the name that the model sees",
    deny({ mcp_server: "my_db", mcp_tool: "drop_all_12effa9e" }),
    calling(dropAll),
    "deny by rules:it",
  ],
  [
    "A deny rule may mix both names",
    deny({ mcp_server: "my db", mcp_tool: "drop_*" }),
    calling(dropAll),
    "deny by rules:it",
  ],
  [
    "A deny rule does not match a part of the name",
    deny({ mcp_tool: "drop" }),
    calling(dropAll),
    "allow by default",
  ],
  [
    "An allow rule matches the name that the MCP server gives its tool",
    allow({ mcp_server: "my db", mcp_tool: "drop all" }),
    calling(dropAll),
    "allow by rules:it",
  ],
  [
    "An allow rule does not match the name that the model sees",
    allow({ mcp_server: "my db", mcp_tool: "drop_*" }),
    calling(dropAll),
    askByDefault,
  ],
  [
    "A host tool of an MCP server is denied by a rule about that server",
    deny({ mcp_server: "files", mcp_tool: "Read" }),
    calling(proxied),
    "deny by rules:it",
  ],
  [
    "A host tool is not allowed by a rule about an MCP server",
    allow({ mcp_server: "github" }),
    calling(host),
    askByDefault,
  ],
  [
    "The name decides if the executor of a tool is unknown",
    deny({ mcp_server: "github" }),
    call("github__x"),
    "deny by rules:it",
  ],
  [
    "Arguments do not identify an MCP server",
    allow({ mcp_server: "github" }),
    call("x", { mcp_server: "github", server: "github" }),
    askByDefault,
  ],
  [
    "A tool without an MCP server does not match rules about servers",
    deny({ mcp_server: "*" }),
    call("x"),
    "allow by default",
  ],
];

/** Repeated tool calls. */
const REPEATS: readonly Row[] = [
  [
    "A tool call within the repeat limit is allowed",
    { repeat_limit: 2, default: "allow" },
    call("x", {}, { repeats: 1 }),
    "allow by default",
  ],
  [
    "A tool call beyond the repeat limit needs approval",
    { repeat_limit: 2, default: "allow" },
    call("x", {}, { repeats: 2 }),
    "ask by repeat_limit",
    ["approval_required", "repeated_call"],
  ],
  [
    "A tool call beyond the repeat limit can be denied",
    { repeat_limit: 2, repeat_action: "deny", default: "allow" },
    call("x", {}, { repeats: 2 }),
    "deny by repeat_limit",
    ["repeated_call"],
  ],
  [
    "An allow rule does not lift the repeat limit",
    { repeat_limit: 1, auto_approve: ["x"] },
    call("x", {}, { repeats: 1 }),
    "ask by repeat_limit",
  ],
  [
    "A deny rule takes precedence over the repeat limit",
    { repeat_limit: 1, auto_deny: ["x"] },
    call("x", {}, { repeats: 1 }),
    "deny by auto_deny",
  ],
  [
    "A default of deny takes precedence over the repeat limit",
    { repeat_limit: 1, default: "deny" },
    call("x", {}, { repeats: 1 }),
    "deny by default",
  ],
  [
    "An invalid count is beyond the repeat limit",
    { repeat_limit: 9, default: "allow" },
    call("x", {}, { repeats: Number.NaN }),
    "ask by repeat_limit",
  ],
  [
    "A missing repeat limit restricts nothing",
    { default: "allow" },
    call("x", {}, { repeats: 1_000 }),
    "allow by default",
  ],
  [
    "A rule can match a repeat count",
    deny({ tool: "x", repeat_count_at_least: 3 }),
    call("x", {}, { repeats: 3 }),
    "deny by rules:it",
    ["matched_deny_rule", "repeated_call"],
  ],
  [
    "A rule does not match below its repeat count",
    deny({ tool: "x", repeat_count_at_least: 3 }),
    call("x", {}, { repeats: 2 }),
    "allow by default",
  ],
];

export const TOOL_CASES: readonly Row[] = [...NAMES, ...ORDER, ...TRAITS, ...REPEATS];
