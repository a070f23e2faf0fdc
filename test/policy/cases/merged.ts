import { call, edit, editAll, read, run, type Row } from "../policy-calls.ts";

const open = { default: "allow" };
const asked = "ask by default";
const none = "allow by default";

const writing = (...lists: (readonly string[] | undefined)[]): object =>
  lists.map((list) => (list === undefined ? open : { ...open, write_path_allowlist: list }));

/** The outer policy first. */
export const MERGED_CASES: readonly Row[] = [
  [
    "two lists with nothing in common allow nothing [W-05]",
    writing(["src/**"], ["docs/**"]),
    edit("src/a"),
    "deny by write_path_allowlist",
  ],
  [
    "from neither side [W-05]",
    writing(["src/**"], ["docs/**"]),
    edit("docs/a"),
    "deny by write_path_allowlist",
  ],
  [
    "a narrower list narrows",
    writing(["src/**"], ["src/a/**"]),
    edit("src/b/x"),
    "deny by write_path_allowlist",
  ],
  ["and lets pass what both have", writing(["src/**"], ["src/a/**"]), edit("src/a/x"), none],
  [
    "lists that cross let pass what both have",
    writing(["src/**"], ["**/*.ts"]),
    edit("src/x.ts"),
    none,
  ],
  [
    "and nothing else",
    writing(["src/**"], ["**/*.ts"]),
    edit("src/x.js"),
    "deny by write_path_allowlist",
  ],
  [
    "every path has to be on both",
    writing(["src/**"], ["**/*.ts"]),
    editAll("src/x.ts", "lib/y.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "no list takes the other's [W-05]",
    writing(undefined, ["src/**"]),
    edit("lib/x"),
    "deny by write_path_allowlist",
  ],
  [
    "no list takes the other's, the other way [W-05]",
    writing(["src/**"], undefined),
    edit("lib/x"),
    "deny by write_path_allowlist",
  ],
  [
    "an empty list stays empty [W-05]",
    writing([], ["src/**"]),
    edit("src/x"),
    "deny by write_path_allowlist",
  ],
  [
    "an empty list empties [W-05]",
    writing(["src/**"], []),
    edit("src/x"),
    "deny by write_path_allowlist",
  ],
  ["no list twice is none", writing(undefined, undefined), edit("lib/x"), none],
  [
    "the inner's denial stands",
    [open, { ...open, auto_deny: ["x"] }],
    call("x"),
    "deny by auto_deny",
  ],
  [
    "the outer's denial stands",
    [{ ...open, auto_deny: ["x"] }, { auto_approve: ["x"] }],
    call("x"),
    "deny by auto_deny",
  ],
  [
    "the inner's question stands",
    [open, { ...open, require_approval: ["x"] }],
    call("x"),
    "ask by require_approval",
  ],
  [
    "the outer's question stands",
    [{ ...open, require_approval: ["x"] }, { auto_approve: ["x"] }],
    call("x"),
    "ask by require_approval",
  ],
  ["one allowance is not enough", [{ auto_approve: ["x"] }, {}], call("x"), asked],
  ["from neither side", [{}, { auto_approve: ["x"] }], call("x"), asked],
  [
    "two are, by different patterns",
    [{ auto_approve: ["get_*"] }, { auto_approve: ["*_x"] }],
    call("get_x"),
    "allow by auto_approve",
  ],
  [
    "two without anything in common allow nothing",
    [{ auto_approve: ["a*"] }, { auto_approve: ["b*"] }],
    call("ab"),
    asked,
  ],
  ["the stricter default holds", [open, { default: "deny" }], call("x"), "deny by default"],
  ["whichever comes first", [{ default: "deny" }, open], call("x"), "deny by default"],
  [
    "the lower limit holds",
    [
      { ...open, repeat_limit: 5 },
      { ...open, repeat_limit: 2 },
    ],
    call("x", {}, { repeats: 2 }),
    "ask by repeat_limit",
  ],
  [
    "a limit on one side holds",
    [open, { ...open, repeat_limit: 2 }],
    call("x", {}, { repeats: 2 }),
    "ask by repeat_limit",
  ],
  [
    "the stricter action holds",
    [
      { ...open, repeat_limit: 2 },
      { ...open, repeat_limit: 2, repeat_action: "deny" },
    ],
    call("x", {}, { repeats: 2 }),
    "deny by repeat_limit",
  ],
  [
    "one that opens sensitive paths is not enough",
    [{ ...open, allow_sensitive_paths: true }, open],
    read(".env"),
    "deny by default_sensitive_path",
  ],
  [
    "two are",
    [
      { ...open, allow_sensitive_paths: true },
      { ...open, allow_sensitive_paths: true },
    ],
    read(".env"),
    none,
  ],
  [
    "the sensitive paths of both count",
    [
      { ...open, sensitive_path_patterns: ["a"] },
      { ...open, sensitive_path_patterns: ["b"] },
    ],
    read("a"),
    "deny by default_sensitive_path",
  ],
  [
    "one that opens the outside is not enough",
    [{ ...open, allow_external_paths: true }, open],
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "a root within what the other opens is opened",
    [
      { ...open, allow_external_paths: true },
      { ...open, external_roots: ["/etc"] },
    ],
    read("/etc/hosts"),
    none,
  ],
  [
    "roots without anything in common open nothing",
    [
      { ...open, external_roots: ["/srv"] },
      { ...open, external_roots: ["/etc"] },
    ],
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "one that opens unparsed commands is not enough",
    [{ ...open, allow_unparsed_commands: true }, open],
    run("echo `date`"),
    asked,
  ],
  [
    "three are one after the other",
    [open, open, { ...open, auto_deny: ["x"] }],
    call("x"),
    "deny by auto_deny",
  ],
  [
    "the same twice is the same",
    [{ auto_approve: ["x"] }, { auto_approve: ["x"] }],
    call("x"),
    "allow by auto_approve",
  ],
];
