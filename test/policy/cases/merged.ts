import { call, edit, editAll, read, run, type Row } from "../policy-calls.ts";

const open = { default: "allow" };
const askByDefault = "ask by default";
const none = "allow by default";

const writing = (...lists: (readonly string[] | undefined)[]): object =>
  lists.map((list) => (list === undefined ? open : { ...open, write_path_allowlist: list }));

/** The outer policy is first. */
export const MERGED_CASES: readonly Row[] = [
  [
    "Two allowlists without common paths allow no writing [W-05]",
    writing(["src/**"], ["docs/**"]),
    edit("src/a"),
    "deny by write_path_allowlist",
  ],
  [
    "Two allowlists without common paths allow no writing, in either order [W-05]",
    writing(["src/**"], ["docs/**"]),
    edit("docs/a"),
    "deny by write_path_allowlist",
  ],
  [
    "A narrower allowlist restricts the merged list",
    writing(["src/**"], ["src/a/**"]),
    edit("src/b/x"),
    "deny by write_path_allowlist",
  ],
  [
    "A path on both allowlists is allowed",
    writing(["src/**"], ["src/a/**"]),
    edit("src/a/x"),
    none,
  ],
  [
    "A path on two overlapping allowlists is allowed",
    writing(["src/**"], ["**/*.ts"]),
    edit("src/x.ts"),
    none,
  ],
  [
    "A path on only one of two overlapping allowlists is denied",
    writing(["src/**"], ["**/*.ts"]),
    edit("src/x.js"),
    "deny by write_path_allowlist",
  ],
  [
    "Every path has to be on both allowlists",
    writing(["src/**"], ["**/*.ts"]),
    editAll("src/x.ts", "lib/y.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "A missing outer allowlist leaves the inner list in force [W-05]",
    writing(undefined, ["src/**"]),
    edit("lib/x"),
    "deny by write_path_allowlist",
  ],
  [
    "A missing inner allowlist leaves the outer list in force [W-05]",
    writing(["src/**"], undefined),
    edit("lib/x"),
    "deny by write_path_allowlist",
  ],
  [
    "An empty outer allowlist stays empty [W-05]",
    writing([], ["src/**"]),
    edit("src/x"),
    "deny by write_path_allowlist",
  ],
  [
    "An empty inner allowlist makes the merged list empty [W-05]",
    writing(["src/**"], []),
    edit("src/x"),
    "deny by write_path_allowlist",
  ],
  ["Two missing allowlists restrict nothing", writing(undefined, undefined), edit("lib/x"), none],
  [
    "A deny of the inner policy applies",
    [open, { ...open, auto_deny: ["x"] }],
    call("x"),
    "deny by auto_deny",
  ],
  [
    "A deny of the outer policy applies",
    [{ ...open, auto_deny: ["x"] }, { auto_approve: ["x"] }],
    call("x"),
    "deny by auto_deny",
  ],
  [
    "An ask of the inner policy applies",
    [open, { ...open, require_approval: ["x"] }],
    call("x"),
    "ask by require_approval",
  ],
  [
    "An ask of the outer policy applies",
    [{ ...open, require_approval: ["x"] }, { auto_approve: ["x"] }],
    call("x"),
    "ask by require_approval",
  ],
  [
    "An allow of the outer policy alone is not enough",
    [{ auto_approve: ["x"] }, {}],
    call("x"),
    askByDefault,
  ],
  [
    "An allow of the inner policy alone is not enough",
    [{}, { auto_approve: ["x"] }],
    call("x"),
    askByDefault,
  ],
  [
    "Two allow rules with different patterns are enough",
    [{ auto_approve: ["get_*"] }, { auto_approve: ["*_x"] }],
    call("get_x"),
    "allow by auto_approve",
  ],
  [
    "Two allow rules that do not both match are not enough",
    [{ auto_approve: ["a*"] }, { auto_approve: ["b*"] }],
    call("ab"),
    askByDefault,
  ],
  ["The stricter inner default applies", [open, { default: "deny" }], call("x"), "deny by default"],
  ["The stricter outer default applies", [{ default: "deny" }, open], call("x"), "deny by default"],
  [
    "The lower repeat limit applies",
    [
      { ...open, repeat_limit: 5 },
      { ...open, repeat_limit: 2 },
    ],
    call("x", {}, { repeats: 2 }),
    "ask by repeat_limit",
  ],
  [
    "A repeat limit of only one policy applies",
    [open, { ...open, repeat_limit: 2 }],
    call("x", {}, { repeats: 2 }),
    "ask by repeat_limit",
  ],
  [
    "The stricter repeat action applies",
    [
      { ...open, repeat_limit: 2 },
      { ...open, repeat_limit: 2, repeat_action: "deny" },
    ],
    call("x", {}, { repeats: 2 }),
    "deny by repeat_limit",
  ],
  [
    "Sensitive paths need the permission of both policies",
    [{ ...open, allow_sensitive_paths: true }, open],
    read(".env"),
    "deny by default_sensitive_path",
  ],
  [
    "Sensitive paths are allowed with the permission of both policies",
    [
      { ...open, allow_sensitive_paths: true },
      { ...open, allow_sensitive_paths: true },
    ],
    read(".env"),
    none,
  ],
  [
    "Sensitive path patterns of both policies apply",
    [
      { ...open, sensitive_path_patterns: ["a"] },
      { ...open, sensitive_path_patterns: ["b"] },
    ],
    read("a"),
    "deny by default_sensitive_path",
  ],
  [
    "External paths need the permission of both policies",
    [{ ...open, allow_external_paths: true }, open],
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "A root within the paths that the other policy allows is allowed",
    [
      { ...open, allow_external_paths: true },
      { ...open, external_roots: ["/etc"] },
    ],
    read("/etc/hosts"),
    none,
  ],
  [
    "External roots without common folders allow nothing",
    [
      { ...open, external_roots: ["/srv"] },
      { ...open, external_roots: ["/etc"] },
    ],
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "Unparsed commands need the permission of both policies",
    [{ ...open, allow_unparsed_commands: true }, open],
    run("echo `date`"),
    askByDefault,
  ],
  [
    "Three policies are merged in order",
    [open, open, { ...open, auto_deny: ["x"] }],
    call("x"),
    "deny by auto_deny",
  ],
  [
    "Merging a policy with itself changes nothing",
    [{ auto_approve: ["x"] }, { auto_approve: ["x"] }],
    call("x"),
    "allow by auto_approve",
  ],
];
