import type { ToolKind } from "../../../src/domain/tools/tool-traits.ts";
import { call, calling, edit, read, run, toolWith, type Row } from "../policy-calls.ts";

const asked = "ask by default";
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

/** Names are compared whole, and mean only themselves. */
const NAMES: readonly Row[] = [
  ["a name fits itself", allow("get_weather"), call("get_weather"), "allow by rules:it"],
  ["a name does not fit a longer one", allow("get"), call("get_weather"), asked],
  ["a star fits the rest [W-03]", allow("get_*"), call("get_weather"), "allow by rules:it"],
  [
    "a star in the middle fits [W-03]",
    allow("get_*_now"),
    call("get_weather_now"),
    "allow by rules:it",
  ],
  ["a star fits nothing too", allow("get*"), call("get"), "allow by rules:it"],
  ["a star fits a slash", deny("a*"), call("a/b"), "deny by rules:it"],
  ["a question mark fits one", allow("get_?"), call("get_x"), "allow by rules:it"],
  ["a question mark does not fit none", allow("get_?"), call("get_"), asked],
  ["several names are choices", allow(["a", "b"]), call("b"), "allow by rules:it"],
  ["a denial hears another case", deny("delete_*"), call("Delete_All"), "deny by rules:it"],
  ["an allowance does not", allow("get_*"), call("GET_x"), asked],
  [
    "a denial fits a name with a line break",
    deny("delete*"),
    call("delete\nall"),
    "deny by rules:it",
  ],
  ["a name with a line break is another", allow("get"), call("get\n"), asked],
  [
    "a tool called * is no pattern",
    { auto_approve: ["get"], default: "deny" },
    call("*"),
    "deny by default",
  ],
  ["a tool called * is fitted by a question mark", allow("?"), call("*"), "allow by rules:it"],
  ["a tool called [a] is not a", allow("a"), call("[a]"), asked],
  ["a tool called __proto__ is a tool", deny("__proto__"), call("__proto__"), "deny by rules:it"],
  ["a tool called __proto__ is allowed by nothing else", allow("get"), call("__proto__"), asked],
  [
    "a tool called constructor is allowed by nothing else",
    allow("get"),
    call("constructor"),
    asked,
  ],
  ["a tool with letters of another alphabet is another", allow("get_x"), call("gеt_x"), asked],
  [
    "a tool with a name without end is judged",
    deny("a*b"),
    call(`a${"a".repeat(50_000)}b`),
    "deny by rules:it",
  ],
];

/** Rules, lists and the default. */
const ORDER: readonly Row[] = [
  ["nothing said is asked [W-06]", {}, call("x"), asked, ["approval_required"]],
  ["a list of allowances protects the rest [W-06]", { auto_approve: ["get"] }, call("x"), asked],
  [
    "empty lists allow nothing [W-06]",
    { auto_approve: [], auto_deny: [], require_approval: [], rules: [] },
    call("x"),
    asked,
  ],
  ["the default may be to deny", { default: "deny" }, call("x"), "deny by default", []],
  ["the default may be to allow", { default: "allow" }, call("x"), "allow by default", []],
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
    "denying beats asking",
    { auto_deny: ["x"], require_approval: ["x"] },
    call("x"),
    "deny by auto_deny",
  ],
  [
    "asking beats allowing",
    { require_approval: ["x"], auto_approve: ["x"] },
    call("x"),
    "ask by require_approval",
  ],
  [
    "denying beats allowing, whichever comes first",
    { rules: [{ allow: "x" }, { id: "no", deny: "x" }] },
    call("x"),
    "deny by rules:no",
  ],
  [
    "denying beats the default",
    { auto_deny: ["x"], default: "allow" },
    call("x"),
    "deny by auto_deny",
  ],
  [
    "a rule beats a default that denies",
    { auto_approve: ["x"], default: "deny" },
    call("x"),
    "allow by auto_approve",
  ],
  [
    "of two that deny the first is named",
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
    "rules are named before lists",
    { rules: [{ id: "one", deny: "x" }], auto_deny: ["x"] },
    call("x"),
    "deny by rules:one",
  ],
  ["true is every call", { rules: [{ id: "all", deny: true }] }, call("x"), "deny by rules:all"],
  [
    "all keys have to fit",
    deny({ tool: "edit_*", path: "src/**" }),
    edit("lib/x"),
    "allow by default",
  ],
  ["and then they do", deny({ tool: "edit_*", path: "src/**" }), edit("src/x"), "deny by rules:it"],
  [
    "action and match say the same as deny",
    { rules: [{ name: "it", action: "block", when: { tool: "x" } }] },
    call("x"),
    "deny by rules:it",
  ],
  [
    "approve is allow",
    { rules: [{ action: "approve", matches: "x" }] },
    call("x"),
    "allow by rules",
  ],
  [
    "requires_approval is ask",
    { rules: [{ action: "requires_approval", match: "x" }], default: "allow" },
    call("x"),
    "ask by rules",
  ],
];

/** What a tool does. */
const TRAITS: readonly Row[] = [
  ["a kind fits", deny({ tool_kind: "edit" }), edit("x"), "deny by rules:it"],
  ["another kind does not", deny({ tool_kind: ["edit", "delete"] }), read("x"), "allow by default"],
  ["a kind allows", allow({ tool_kind: "read" }), read("x"), "allow by rules:it"],
  [
    "a tool that says nothing is of no kind that is allowed",
    allow({ tool_kind: ["read", "search"] }),
    call("x"),
    asked,
  ],
  [
    "a kind that nobody knows is other",
    deny({ tool_kind: "other" }),
    calling(toolWith("x", { kind: "banana" as ToolKind, sideEffect: "none" })),
    "deny by rules:it",
  ],
  ["a side effect fits", deny({ side_effect: "process_exec" }), run("ls"), "deny by rules:it"],
  ["another does not", deny({ side_effect: "process_exec" }), edit("x"), "allow by default"],
  [
    "a tool that says nothing may reach the network [W-08]",
    deny({ side_effect: "network" }),
    call("x"),
    "deny by rules:it",
  ],
  [
    "a tool that says nothing may write [W-08]",
    deny({ side_effect: "workspace_write" }),
    call("x"),
    "deny by rules:it",
  ],
  [
    "a side effect that nobody knows is the worst [W-08]",
    deny({ side_effect: "network" }),
    calling(toolWith("x", { kind: "read", sideEffect: "banana" as "none" })),
    "deny by rules:it",
  ],
  [
    "a side effect that nobody knows is not none [W-08]",
    allow({ side_effect: ["none", "read_only"] }),
    calling(toolWith("x", { kind: "read", sideEffect: "banana" as "none" })),
    asked,
  ],
  [
    "a side effect called __proto__ is the worst [W-08]",
    allow({ side_effect: "none" }),
    calling(toolWith("x", { kind: "read", sideEffect: "__proto__" as "none" })),
    asked,
  ],
  [
    "no side effect is allowed as such",
    allow({ side_effect: "none" }),
    calling(toolWith("x", { kind: "think", sideEffect: "none" })),
    "allow by rules:it",
  ],
  [
    "one capability is enough to deny",
    deny({ capability: "workspace.write_*" }),
    calling(writer),
    "deny by rules:it",
  ],
  [
    "one capability is not enough to allow",
    allow({ capability: "workspace.read_*" }),
    calling(writer),
    asked,
  ],
  ["all of them are", allow({ capability: "workspace.*" }), calling(writer), "allow by rules:it"],
  ["no capability is not all", allow({ capability: "*" }), call("x"), asked],
  [
    "a server fits",
    deny({ mcp_server: "github" }),
    calling(github),
    "deny by rules:it",
    ["matched_deny_rule", "mcp_rule"],
  ],
  ["a server's tool fits", deny({ mcp_tool: "create_*" }), calling(github), "deny by rules:it"],
  [
    "both allow together",
    allow({ mcp_server: "github", mcp_tool: "create_issue" }),
    calling(github),
    "allow by rules:it",
  ],
  [
    "a server that poses by its tool's name does not",
    allow({ mcp_server: "github" }),
    calling(posing),
    asked,
  ],
  [
    "a tool has the name that its server gives it",
    deny({ mcp_tool: "drop all" }),
    calling(dropAll),
    "deny by rules:it",
  ],
  [
    "a denial hears the name that the model knows too",
    deny({ mcp_server: "my_db", mcp_tool: "drop_all_12effa9e" }),
    calling(dropAll),
    "deny by rules:it",
  ],
  [
    "a denial may mix both",
    deny({ mcp_server: "my db", mcp_tool: "drop_*" }),
    calling(dropAll),
    "deny by rules:it",
  ],
  ["and hears no other", deny({ mcp_tool: "drop" }), calling(dropAll), "allow by default"],
  [
    "an allowance hears the server's name",
    allow({ mcp_server: "my db", mcp_tool: "drop all" }),
    calling(dropAll),
    "allow by rules:it",
  ],
  ["and only that", allow({ mcp_server: "my db", mcp_tool: "drop_*" }), calling(dropAll), asked],
  [
    "a host's tool of an MCP server is denied by that server",
    deny({ mcp_server: "files", mcp_tool: "Read" }),
    calling(proxied),
    "deny by rules:it",
  ],
  ["nor does a host's tool", allow({ mcp_server: "github" }), calling(host), asked],
  [
    "where nobody knows who runs it the name tells",
    deny({ mcp_server: "github" }),
    call("github__x"),
    "deny by rules:it",
  ],
  [
    "an argument names no server",
    allow({ mcp_server: "github" }),
    call("x", { mcp_server: "github", server: "github" }),
    asked,
  ],
  [
    "a tool of no server is none of theirs",
    deny({ mcp_server: "*" }),
    call("x"),
    "allow by default",
  ],
];

/** Calls that are made again and again. */
const REPEATS: readonly Row[] = [
  [
    "within the limit nothing happens",
    { repeat_limit: 2, default: "allow" },
    call("x", {}, { repeats: 1 }),
    "allow by default",
  ],
  [
    "beyond it is asked",
    { repeat_limit: 2, default: "allow" },
    call("x", {}, { repeats: 2 }),
    "ask by repeat_limit",
    ["approval_required", "repeated_call"],
  ],
  [
    "or denied",
    { repeat_limit: 2, repeat_action: "deny", default: "allow" },
    call("x", {}, { repeats: 2 }),
    "deny by repeat_limit",
    ["repeated_call"],
  ],
  [
    "an allowance does not lift it",
    { repeat_limit: 1, auto_approve: ["x"] },
    call("x", {}, { repeats: 1 }),
    "ask by repeat_limit",
  ],
  [
    "a denial stands before it",
    { repeat_limit: 1, auto_deny: ["x"] },
    call("x", {}, { repeats: 1 }),
    "deny by auto_deny",
  ],
  [
    "a default that denies stands before it",
    { repeat_limit: 1, default: "deny" },
    call("x", {}, { repeats: 1 }),
    "deny by default",
  ],
  [
    "a count that is none is beyond it",
    { repeat_limit: 9, default: "allow" },
    call("x", {}, { repeats: Number.NaN }),
    "ask by repeat_limit",
  ],
  ["no limit is none", { default: "allow" }, call("x", {}, { repeats: 1_000 }), "allow by default"],
  [
    "a rule may count too",
    deny({ tool: "x", repeat_count_at_least: 3 }),
    call("x", {}, { repeats: 3 }),
    "deny by rules:it",
    ["matched_deny_rule", "repeated_call"],
  ],
  [
    "and not yet",
    deny({ tool: "x", repeat_count_at_least: 3 }),
    call("x", {}, { repeats: 2 }),
    "allow by default",
  ],
];

export const TOOL_CASES: readonly Row[] = [...NAMES, ...ORDER, ...TRAITS, ...REPEATS];
