import {
  call,
  calling,
  edit,
  editAll,
  read,
  run,
  take,
  toolWith,
  type Row,
} from "../policy-calls.ts";

const open = { default: "allow" };
const writeSrc = { write_path_allowlist: ["src/**"], default: "allow" };

/** What no rule opens. */
const GUARDS: readonly Row[] = [
  ["an empty path is no path", open, read(""), "deny by default_path_guard", ["invalid_path"]],
  ["a NUL is in no path", open, read("src/a\0b"), "deny by default_path_guard", ["invalid_path"]],
  ["a path that is too long is none", open, read("a/".repeat(3_000)), "deny by default_path_guard"],
  ["a file address is no path", open, read("file:///etc/passwd"), "deny by default_path_guard"],
  [
    "a file address in capitals is no path",
    open,
    read(" FILE:/etc/passwd"),
    "deny by default_path_guard",
  ],
  [
    "what could not be followed is no path",
    open,
    read("loop", {
      leads: {
        path: { location: "invalid", workspacePath: null, hostPath: null, reason: "a loop" },
      },
    }),
    "deny by default_path_guard",
  ],
  [
    "an inside path without a place is none",
    open,
    read("x", { leads: { path: { workspacePath: null } } }),
    "deny by default_path_guard",
  ],
  [
    "a path that still climbs is none",
    open,
    read("x", { leads: { path: { workspacePath: "a/../../x" } } }),
    "deny by default_path_guard",
  ],
  [
    "a rooted workspace path is none",
    open,
    read("x", { leads: { path: { workspacePath: "/etc/passwd" } } }),
    "deny by default_path_guard",
  ],
  ["../x is outside", open, read("../x"), "deny by default_external_path", ["external_path"]],
  ["/etc/passwd is outside", open, read("/etc/passwd"), "deny by default_external_path"],
  [
    "an allowance does not open the outside",
    { rules: [{ allow: true }] },
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "allow_external_paths opens it",
    { ...open, allow_external_paths: true },
    read("/etc/hosts"),
    "allow by default",
  ],
  [
    "a root opens what is below it",
    { ...open, external_roots: ["/etc"] },
    read("/etc/hosts"),
    "allow by default",
  ],
  [
    "a root with a slash at its end opens the same",
    { ...open, external_roots: ["/etc/"] },
    read("/etc/hosts"),
    "allow by default",
  ],
  [
    "a root opens no folder with a look-alike name",
    { ...open, external_roots: ["/srv/café"] },
    read("/srv/cafe\u0301/x"),
    "deny by default_external_path",
  ],
  [
    "a root is the name of a folder, brackets included",
    { ...open, external_roots: ["/srv/[id]"] },
    read("/srv/[id]/x"),
    "allow by default",
  ],
  ["a root opens itself", { ...open, external_roots: ["/etc"] }, read("/etc"), "allow by default"],
  [
    "a root does not open its neighbour",
    { ...open, external_roots: ["/etc"] },
    read("/etc2/hosts"),
    "deny by default_external_path",
  ],
  [
    "a root does not open by ..",
    { ...open, external_roots: ["/srv"] },
    read("/srv/../etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "no roots open nothing",
    { ...open, external_roots: [] },
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "an opened path is still judged by absolute patterns",
    { external_roots: ["/srv"], rules: [{ id: "it", allow: { path: "/srv/www/**" } }] },
    read("/srv/www/a"),
    "allow by rules:it",
  ],
  [
    "an absolute pattern does not reach further",
    { external_roots: ["/srv"], rules: [{ id: "it", allow: { path: "/srv/www/**" } }] },
    read("/srv/x"),
    "ask by default",
  ],
  [
    "a pattern of the workspace does not allow what is outside",
    { external_roots: ["/srv"], rules: [{ allow: { path: "srv/**" } }] },
    read("/srv/x"),
    "ask by default",
  ],
  [
    "a pattern of the workspace denies what is outside too",
    { ...open, external_roots: ["/srv"], rules: [{ id: "it", deny: { path: "**/key" } }] },
    read("/srv/key"),
    "deny by rules:it",
  ],
  [
    "an opened path is on no allowlist",
    { ...open, external_roots: ["/srv"], write_path_allowlist: ["**"] },
    edit("/srv/x"),
    "deny by write_path_allowlist",
  ],
  [".env is sensitive", open, read(".env"), "deny by default_sensitive_path", ["sensitive_path"]],
  [
    ".env further down is sensitive",
    open,
    read("app/.env.production"),
    "deny by default_sensitive_path",
  ],
  [".ENV is sensitive", open, read("app/.ENV"), "deny by default_sensitive_path"],
  [".env.example is not", open, read(".env.example"), "allow by default"],
  [
    ".env.example is when the policy says so",
    { ...open, sensitive_path_patterns: ["**/.env.*"] },
    read(".env.example"),
    "deny by default_sensitive_path",
  ],
  [
    "a symlink to .env is sensitive",
    open,
    read("notes.txt", { leads: { path: { workspacePath: ".env" } } }),
    "deny by default_sensitive_path",
  ],
  [
    "an example that is a symlink to .env is sensitive",
    open,
    read(".env.example", { leads: { path: { workspacePath: ".env" } } }),
    "deny by default_sensitive_path",
  ],
  ["a private key is sensitive", open, read("certs/server.pem"), "deny by default_sensitive_path"],
  ["what is in .ssh is sensitive", open, read(".ssh/config"), "deny by default_sensitive_path"],
  ["deleting .ssh is too", open, take("delete", ".ssh"), "deny by default_sensitive_path"],
  [
    "an allowance does not open it",
    { rules: [{ allow: { path: "**" } }], auto_approve: ["*"] },
    read(".env"),
    "deny by default_sensitive_path",
  ],
  [
    "allow_sensitive_paths opens it",
    { ...open, allow_sensitive_paths: true },
    read(".env"),
    "allow by default",
  ],
  [
    "the policy's own patterns are added",
    { ...open, sensitive_path_patterns: ["internal"] },
    read("internal/x"),
    "deny by default_sensitive_path",
  ],
  [
    "an empty list of patterns takes none away",
    { ...open, sensitive_path_patterns: [] },
    read(".env"),
    "deny by default_sensitive_path",
  ],
  [
    "Spanline's own files are protected",
    open,
    read("/data/spanline/sessions.db"),
    "deny by default_protected_path",
    ["protected_path"],
  ],
  [
    "nothing opens what is protected",
    {
      ...open,
      allow_external_paths: true,
      allow_sensitive_paths: true,
      external_roots: ["/data"],
      auto_approve: ["*"],
      rules: [{ allow: true }],
    },
    read("/data/spanline/sessions.db"),
    "deny by default_protected_path",
  ],
  [
    "one bad path among good ones is enough",
    open,
    editAll("src/a", "../x", "src/b"),
    "deny by default_external_path",
  ],
];

/** Lists of where writing is allowed. */
const ALLOWLISTS: readonly Row[] = [
  ["writing on the list passes", writeSrc, edit("src/a.ts"), "allow by default"],
  [
    "writing beside the list is denied",
    writeSrc,
    edit("lib/a.ts"),
    "deny by write_path_allowlist",
    ["write_path_not_allowed"],
  ],
  ["reading beside the list is free", writeSrc, read("lib/a.ts"), "allow by default"],
  [
    "every path has to be on the list",
    writeSrc,
    editAll("src/a.ts", "lib/a.ts"),
    "deny by write_path_allowlist",
  ],
  ["all on the list pass", writeSrc, editAll("src/a.ts", "src/b.ts"), "allow by default"],
  [
    "an empty list allows no writing [W-05]",
    { ...open, write_path_allowlist: [] },
    edit("src/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "an empty list leaves reading free [W-05]",
    { ...open, write_path_allowlist: [] },
    read("src/a.ts"),
    "allow by default",
  ],
  ["no list restricts nothing", open, edit("lib/a.ts"), "allow by default"],
  [
    "a writing tool without a path does not pass",
    writeSrc,
    editAll(),
    "deny by write_path_allowlist",
  ],
  [
    "a tool that says nothing of itself writes",
    writeSrc,
    call("mystery", { path: "lib/x" }),
    "deny by write_path_allowlist",
  ],
  [
    "a tool that says nothing and names no path does not pass",
    writeSrc,
    call("mystery", {}),
    "deny by write_path_allowlist",
  ],
  [
    "a tool that says nothing passes on the list",
    writeSrc,
    call("mystery", { path: "src/x" }),
    "allow by default",
  ],
  [
    "a kind that nobody knows writes",
    writeSrc,
    calling(toolWith("x", { kind: "banana" as "read", sideEffect: "read_only", paths: ["path"] }), {
      path: "lib/x",
    }),
    "deny by write_path_allowlist",
  ],
  [
    "a side effect that nobody knows writes [W-08]",
    writeSrc,
    calling(toolWith("x", { kind: "read", sideEffect: "banana" as "none", paths: ["path"] }), {
      path: "lib/x",
    }),
    "deny by write_path_allowlist",
  ],
  [
    "a reading tool with a writing effect writes",
    writeSrc,
    calling(toolWith("x", { kind: "read", sideEffect: "workspace_write", paths: ["path"] }), {
      path: "lib/x",
    }),
    "deny by write_path_allowlist",
  ],
  [
    "a program is not kept by the folder it runs in",
    writeSrc,
    run("ls", { cwd: "src" }),
    "deny by write_path_allowlist",
  ],
  [
    "nor is one of a tool that says nothing",
    writeSrc,
    call("mystery", { command: "ls", path: "src" }),
    "deny by write_path_allowlist",
  ],
  [
    "an allowance does not open the list",
    { ...writeSrc, auto_approve: ["edit_file"] },
    edit("lib/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "the list allows nothing by itself",
    { write_path_allowlist: ["src/**"] },
    edit("src/a.ts"),
    "ask by default",
  ],
  [
    "a rule that asks is heard on the list",
    { ...writeSrc, require_approval: ["edit_*"] },
    edit("src/a.ts"),
    "ask by require_approval",
  ],
];

/** Which arguments are paths. */
const ARGUMENTS: readonly Row[] = [
  [
    "an argument called path is one",
    open,
    call("x", { path: "../y" }),
    "deny by default_external_path",
  ],
  ["so is file_path", open, call("x", { file_path: "../y" }), "deny by default_external_path"],
  ["so is target_path", open, call("x", { target_path: "../y" }), "deny by default_external_path"],
  [
    "so is every item of paths",
    open,
    call("x", { paths: ["a", "../y"] }),
    "deny by default_external_path",
  ],
  ["what lies deeper is not", open, call("x", { options: { path: "../y" } }), "allow by default"],
  [
    "a tool that names its paths is believed",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      path: "../y",
    }),
    "allow by default",
  ],
  [
    "and what it names is one",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      where: "../y",
    }),
    "deny by default_external_path",
  ],
  [
    "a declared path that is no text is no path",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      where: { a: 1 },
    }),
    "deny by default_path_guard",
  ],
  [
    "a number among declared paths is no path",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      where: ["a", 1],
    }),
    "deny by default_path_guard",
  ],
  [
    "an undeclared path that is no text is data",
    open,
    call("x", { file: { a: 1 }, target: 5 }),
    "allow by default",
  ],
  [
    "__proto__ is no path of anybody",
    open,
    call("x", JSON.parse('{"__proto__":{"path":"../y"}}')),
    "allow by default",
  ],
  [
    "a declared __proto__ is one",
    open,
    calling(
      toolWith("x", { kind: "read", sideEffect: "none", paths: ["__proto__"] }),
      JSON.parse('{"__proto__":"../y"}'),
    ),
    "deny by default_external_path",
  ],
  [
    "more paths than anybody looks at are none",
    open,
    call("x", { paths: Array.from({ length: 300 }, () => "a") }),
    "deny by default_path_guard",
  ],
];

export const GUARD_CASES: readonly Row[] = [...GUARDS, ...ALLOWLISTS, ...ARGUMENTS];
