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

/** Paths which no rule can allow. */
const GUARDS: readonly Row[] = [
  ["An empty path is invalid", open, read(""), "deny by default_path_guard", ["invalid_path"]],
  [
    "A path with a NUL is invalid",
    open,
    read("src/a\0b"),
    "deny by default_path_guard",
    ["invalid_path"],
  ],
  [
    "A path that is too long is invalid",
    open,
    read("a/".repeat(3_000)),
    "deny by default_path_guard",
  ],
  ["A file address is not a path", open, read("file:///etc/passwd"), "deny by default_path_guard"],
  [
    "A file address in capitals is not a path",
    open,
    read(" FILE:/etc/passwd"),
    "deny by default_path_guard",
  ],
  [
    "A path that could not be resolved is invalid",
    open,
    read("loop", {
      leads: {
        path: { location: "invalid", workspacePath: null, hostPath: null, reason: "a loop" },
      },
    }),
    "deny by default_path_guard",
  ],
  [
    "An inside path without a workspace path is invalid",
    open,
    read("x", { leads: { path: { workspacePath: null } } }),
    "deny by default_path_guard",
  ],
  [
    "A workspace path that contains .. is invalid",
    open,
    read("x", { leads: { path: { workspacePath: "a/../../x" } } }),
    "deny by default_path_guard",
  ],
  [
    "An absolute workspace path is invalid",
    open,
    read("x", { leads: { path: { workspacePath: "/etc/passwd" } } }),
    "deny by default_path_guard",
  ],
  ["../x is outside", open, read("../x"), "deny by default_external_path", ["external_path"]],
  ["/etc/passwd is outside", open, read("/etc/passwd"), "deny by default_external_path"],
  [
    "An allow rule does not allow external paths",
    { rules: [{ allow: true }] },
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "allow_external_paths allows external paths",
    { ...open, allow_external_paths: true },
    read("/etc/hosts"),
    "allow by default",
  ],
  [
    "An external root allows paths below it",
    { ...open, external_roots: ["/etc"] },
    read("/etc/hosts"),
    "allow by default",
  ],
  [
    "An external root with a final slash allows the same paths",
    { ...open, external_roots: ["/etc/"] },
    read("/etc/hosts"),
    "allow by default",
  ],
  [
    "An external root does not allow a folder with a look-alike name",
    { ...open, external_roots: ["/srv/café"] },
    read("/srv/cafe\u0301/x"),
    "deny by default_external_path",
  ],
  [
    "An external root with brackets is a literal folder name",
    { ...open, external_roots: ["/srv/[id]"] },
    read("/srv/[id]/x"),
    "allow by default",
  ],
  [
    "An external root allows itself",
    { ...open, external_roots: ["/etc"] },
    read("/etc"),
    "allow by default",
  ],
  [
    "An external root does not allow its sibling",
    { ...open, external_roots: ["/etc"] },
    read("/etc2/hosts"),
    "deny by default_external_path",
  ],
  [
    "An external root does not allow paths that leave it by ..",
    { ...open, external_roots: ["/srv"] },
    read("/srv/../etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "An empty list of external roots allows nothing",
    { ...open, external_roots: [] },
    read("/etc/hosts"),
    "deny by default_external_path",
  ],
  [
    "An external path is still matched by absolute patterns",
    { external_roots: ["/srv"], rules: [{ id: "it", allow: { path: "/srv/www/**" } }] },
    read("/srv/www/a"),
    "allow by rules:it",
  ],
  [
    "An absolute pattern matches only its own folder",
    { external_roots: ["/srv"], rules: [{ id: "it", allow: { path: "/srv/www/**" } }] },
    read("/srv/x"),
    "ask by default",
  ],
  [
    "A relative pattern does not allow an external path",
    { external_roots: ["/srv"], rules: [{ allow: { path: "srv/**" } }] },
    read("/srv/x"),
    "ask by default",
  ],
  [
    "A relative pattern denies an external path",
    { ...open, external_roots: ["/srv"], rules: [{ id: "it", deny: { path: "**/key" } }] },
    read("/srv/key"),
    "deny by rules:it",
  ],
  [
    "An external path is never on a write allowlist",
    { ...open, external_roots: ["/srv"], write_path_allowlist: ["**"] },
    edit("/srv/x"),
    "deny by write_path_allowlist",
  ],
  [".env is sensitive", open, read(".env"), "deny by default_sensitive_path", ["sensitive_path"]],
  [
    ".env.production in a subfolder is sensitive",
    open,
    read("app/.env.production"),
    "deny by default_sensitive_path",
  ],
  [".ENV is sensitive", open, read("app/.ENV"), "deny by default_sensitive_path"],
  [".env.example is not sensitive", open, read(".env.example"), "allow by default"],
  [
    ".env.example is sensitive if the policy says so",
    { ...open, sensitive_path_patterns: ["**/.env.*"] },
    read(".env.example"),
    "deny by default_sensitive_path",
  ],
  [
    "A symlink to .env is sensitive",
    open,
    read("notes.txt", { leads: { path: { workspacePath: ".env" } } }),
    "deny by default_sensitive_path",
  ],
  [
    "An example file that is a symlink to .env is sensitive",
    open,
    read(".env.example", { leads: { path: { workspacePath: ".env" } } }),
    "deny by default_sensitive_path",
  ],
  ["A private key is sensitive", open, read("certs/server.pem"), "deny by default_sensitive_path"],
  ["Files in .ssh are sensitive", open, read(".ssh/config"), "deny by default_sensitive_path"],
  [
    "Deleting .ssh is denied as sensitive",
    open,
    take("delete", ".ssh"),
    "deny by default_sensitive_path",
  ],
  [
    "An allow rule does not allow a sensitive path",
    { rules: [{ allow: { path: "**" } }], auto_approve: ["*"] },
    read(".env"),
    "deny by default_sensitive_path",
  ],
  [
    "allow_sensitive_paths allows a sensitive path",
    { ...open, allow_sensitive_paths: true },
    read(".env"),
    "allow by default",
  ],
  [
    "Sensitive patterns of the policy are added to the defaults",
    { ...open, sensitive_path_patterns: ["internal"] },
    read("internal/x"),
    "deny by default_sensitive_path",
  ],
  [
    "An empty list of sensitive patterns removes no default",
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
    "No permission allows a protected path",
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
    "One forbidden path among allowed ones is enough to deny",
    open,
    editAll("src/a", "../x", "src/b"),
    "deny by default_external_path",
  ],
];

/** Allowlists of paths for writing. */
const ALLOWLISTS: readonly Row[] = [
  ["Writing to a path on the allowlist is allowed", writeSrc, edit("src/a.ts"), "allow by default"],
  [
    "Writing to a path outside the allowlist is denied",
    writeSrc,
    edit("lib/a.ts"),
    "deny by write_path_allowlist",
    ["write_path_not_allowed"],
  ],
  [
    "Reading a path outside the allowlist is allowed",
    writeSrc,
    read("lib/a.ts"),
    "allow by default",
  ],
  [
    "Every written path has to be on the allowlist",
    writeSrc,
    editAll("src/a.ts", "lib/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "Writing several paths on the allowlist is allowed",
    writeSrc,
    editAll("src/a.ts", "src/b.ts"),
    "allow by default",
  ],
  [
    "An empty allowlist allows no writing [W-05]",
    { ...open, write_path_allowlist: [] },
    edit("src/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "An empty allowlist does not restrict reading [W-05]",
    { ...open, write_path_allowlist: [] },
    read("src/a.ts"),
    "allow by default",
  ],
  ["A missing allowlist restricts nothing", open, edit("lib/a.ts"), "allow by default"],
  ["A writing tool without a path is denied", writeSrc, editAll(), "deny by write_path_allowlist"],
  [
    "A tool without traits counts as writing",
    writeSrc,
    call("mystery", { path: "lib/x" }),
    "deny by write_path_allowlist",
  ],
  [
    "A tool without traits and without a path is denied",
    writeSrc,
    call("mystery", {}),
    "deny by write_path_allowlist",
  ],
  [
    "A tool without traits is allowed on the allowlist",
    writeSrc,
    call("mystery", { path: "src/x" }),
    "allow by default",
  ],
  [
    "A tool of an unknown kind counts as writing",
    writeSrc,
    calling(toolWith("x", { kind: "banana" as "read", sideEffect: "read_only", paths: ["path"] }), {
      path: "lib/x",
    }),
    "deny by write_path_allowlist",
  ],
  [
    "A tool with an unknown side effect counts as writing [W-08]",
    writeSrc,
    calling(toolWith("x", { kind: "read", sideEffect: "banana" as "none", paths: ["path"] }), {
      path: "lib/x",
    }),
    "deny by write_path_allowlist",
  ],
  [
    "A reading tool with a writing side effect counts as writing",
    writeSrc,
    calling(toolWith("x", { kind: "read", sideEffect: "workspace_write", paths: ["path"] }), {
      path: "lib/x",
    }),
    "deny by write_path_allowlist",
  ],
  [
    "A command is not limited by its working directory",
    writeSrc,
    run("ls", { cwd: "src" }),
    "deny by write_path_allowlist",
  ],
  [
    "A command of a tool without traits is not limited by its path",
    writeSrc,
    call("mystery", { command: "ls", path: "src" }),
    "deny by write_path_allowlist",
  ],
  [
    "An allow rule does not extend the allowlist",
    { ...writeSrc, auto_approve: ["edit_file"] },
    edit("lib/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "The allowlist alone allows nothing",
    { write_path_allowlist: ["src/**"] },
    edit("src/a.ts"),
    "ask by default",
  ],
  [
    "An ask rule applies to paths on the allowlist",
    { ...writeSrc, require_approval: ["edit_*"] },
    edit("src/a.ts"),
    "ask by require_approval",
  ],
];

/** Which arguments count as paths. */
const ARGUMENTS: readonly Row[] = [
  [
    "An argument named path is a path",
    open,
    call("x", { path: "../y" }),
    "deny by default_external_path",
  ],
  [
    "An argument named file_path is a path",
    open,
    call("x", { file_path: "../y" }),
    "deny by default_external_path",
  ],
  [
    "An argument named target_path is a path",
    open,
    call("x", { target_path: "../y" }),
    "deny by default_external_path",
  ],
  [
    "Every item of paths is a path",
    open,
    call("x", { paths: ["a", "../y"] }),
    "deny by default_external_path",
  ],
  [
    "A nested path argument is not a path",
    open,
    call("x", { options: { path: "../y" } }),
    "allow by default",
  ],
  [
    "Only declared arguments are paths if a tool declares its paths",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      path: "../y",
    }),
    "allow by default",
  ],
  [
    "A declared path argument is a path",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      where: "../y",
    }),
    "deny by default_external_path",
  ],
  [
    "A declared path that is not a string is invalid",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      where: { a: 1 },
    }),
    "deny by default_path_guard",
  ],
  [
    "A number among declared paths is invalid",
    open,
    calling(toolWith("x", { kind: "read", sideEffect: "none", paths: ["where"] }), {
      where: ["a", 1],
    }),
    "deny by default_path_guard",
  ],
  [
    "An undeclared path that is not a string is data",
    open,
    call("x", { file: { a: 1 }, target: 5 }),
    "allow by default",
  ],
  [
    "__proto__ does not contain paths",
    open,
    call("x", JSON.parse('{"__proto__":{"path":"../y"}}')),
    "allow by default",
  ],
  [
    "A declared __proto__ argument is a path",
    open,
    calling(
      toolWith("x", { kind: "read", sideEffect: "none", paths: ["__proto__"] }),
      JSON.parse('{"__proto__":"../y"}'),
    ),
    "deny by default_external_path",
  ],
  [
    "Too many paths are invalid",
    open,
    call("x", { paths: Array.from({ length: 300 }, () => "a") }),
    "deny by default_path_guard",
  ],
];

export const GUARD_CASES: readonly Row[] = [...GUARDS, ...ALLOWLISTS, ...ARGUMENTS];
