import type { JsonValue } from "../../../src/data/json.ts";
import { call, edit, read, take, type Row } from "../policy-calls.ts";

const allowSrc = { rules: [{ id: "src", allow: { path: "src/**" } }] };
const denySecrets = { rules: [{ id: "secrets", deny: { path: "secrets/**" } }], default: "allow" };
const askDocs = { rules: [{ id: "docs", ask: { path: "docs/**" } }], default: "allow" };
const writeSrc = { write_path_allowlist: ["src/**"], default: "allow" };
const open = { default: "allow" };

const denyPath = (path: string | string[]): object => ({
  rules: [{ id: "it", deny: { path } }],
  default: "allow",
});
const allowPath = (path: string | string[]): object => ({
  rules: [{ id: "it", allow: { path } }],
});

/** Path globs. */
const GLOBS: readonly Row[] = [
  [
    "src/** matches a file in a deep folder [W-03]",
    allowSrc,
    read("src/a/b/c.ts"),
    "allow by rules:src",
  ],
  ["src/** matches a file in the folder [W-03]", allowSrc, read("src/a.ts"), "allow by rules:src"],
  ["src/** matches the folder", allowSrc, read("src"), "allow by rules:src"],
  ["src/** matches a hidden file", allowSrc, read("src/.hidden/x"), "allow by rules:src"],
  [
    "src/** does not match a sibling with the same prefix",
    allowSrc,
    read("src2/a.ts"),
    "ask by default",
  ],
  [
    "src/** does not match a folder src further down",
    allowSrc,
    read("lib/src/a.ts"),
    "ask by default",
  ],
  [
    "A star in the middle matches [W-03]",
    allowPath("src/*/index.ts"),
    read("src/a/index.ts"),
    "allow by rules:it",
  ],
  ["A star does not match a slash", allowPath("src/*.ts"), read("src/a/b.ts"), "ask by default"],
  [
    "A star matches a name with a line break",
    denyPath("src/*"),
    read("src/a\nb"),
    "deny by rules:it",
  ],
  ["** matches names with line breaks", denyPath("**/x"), read("a\nb/x"), "deny by rules:it"],
  ["A question mark matches one character", allowPath("v?.md"), read("v1.md"), "allow by rules:it"],
  [
    "A question mark does not match two characters",
    allowPath("v?.md"),
    read("v10.md"),
    "ask by default",
  ],
  ["A question mark matches a whole emoji", allowPath("?.md"), read("😀.md"), "allow by rules:it"],
  [
    "Braces are alternatives [W-03]",
    allowPath("{src,test}/**"),
    read("test/a.ts"),
    "allow by rules:it",
  ],
  [
    "Braces match only their alternatives",
    allowPath("{src,test}/**"),
    read("docs/a.md"),
    "ask by default",
  ],
  [
    "Round brackets are literal",
    allowPath("app/(group)/x"),
    read("app/(group)/x"),
    "allow by rules:it",
  ],
  ["A dot is literal", allowPath("a.ts"), read("axts"), "ask by default"],
  ["A plus is literal", allowPath("a+.ts"), read("aaa.ts"), "ask by default"],
  [
    "One of several patterns is enough",
    allowPath(["a/**", "b/**"]),
    read("b/x"),
    "allow by rules:it",
  ],
  ["** matches the workspace itself", allowPath("**"), read("."), "allow by rules:it"],
  ["* does not match the workspace itself", allowPath("*"), read("."), "ask by default"],
  [
    "A denied folder is denied with its contents",
    denyPath("secrets"),
    read("secrets/deep/x"),
    "deny by rules:it",
  ],
  [
    "An allowed folder does not include its contents",
    allowPath("src"),
    read("src/a.ts"),
    "ask by default",
  ],
  [
    "A denied star matches only its own level",
    denyPath("src/*"),
    read("src/a/b"),
    "allow by default",
  ],
];

/** Rules match the resolved path, not the path as written. */
const WAYS: readonly Row[] = [
  ["src/../x does not match src/** [W-04]", allowSrc, read("src/../x"), "ask by default"],
  [
    "src/../x is not on the allowlist src/** [W-04]",
    writeSrc,
    edit("src/../x"),
    "deny by write_path_allowlist",
  ],
  ["src/./a matches as src/a [W-04]", allowSrc, read("src/./a.ts"), "allow by rules:src"],
  ["x/../src/a matches as src/a [W-04]", allowSrc, read("x/../src/a.ts"), "allow by rules:src"],
  [
    "An absolute path into the workspace matches",
    allowSrc,
    read("/work/src/a.ts"),
    "allow by rules:src",
  ],
  ["a/../secrets/x is denied", denySecrets, read("a/../secrets/x"), "deny by rules:secrets"],
  ["./secrets/x is denied", denySecrets, read("./secrets/x"), "deny by rules:secrets"],
  ["secrets//x is denied", denySecrets, read("secrets//x"), "deny by rules:secrets"],
  [
    "A symlink in src that leads elsewhere does not match src/** [W-04]",
    allowSrc,
    read("src/link", { leads: { path: { workspacePath: "secrets/x" } } }),
    "ask by default",
  ],
  [
    "A symlink that leads into secrets is denied [W-04]",
    denySecrets,
    read("src/link", { leads: { path: { workspacePath: "secrets/x" } } }),
    "deny by rules:secrets",
  ],
  [
    "A symlink in secrets that leads elsewhere is denied by its own path",
    denySecrets,
    read("secrets/link", { leads: { path: { workspacePath: "src/x" } } }),
    "deny by rules:secrets",
  ],
  [
    "A symlink out of the workspace is outside",
    open,
    read("src/link", {
      leads: { path: { location: "outside", workspacePath: null, hostPath: "/etc/hosts" } },
    }),
    "deny by default_external_path",
    ["external_path"],
  ],
  [
    "Writing through a symlink to a path outside the allowlist is denied [W-04]",
    writeSrc,
    edit("src/link", { leads: { path: { workspacePath: "lib/x" } } }),
    "deny by write_path_allowlist",
    ["write_path_not_allowed"],
  ],
  [
    "Writing through a symlink to a path on the allowlist is allowed [W-04]",
    writeSrc,
    edit("link", { leads: { path: { workspacePath: "src/x" } } }),
    "allow by default",
  ],
  [
    "Moving a folder that contains a denied path is denied",
    denyPath("a/secrets/**"),
    take("move", "a"),
    "deny by rules:it",
  ],
  [
    "Deleting the workspace with a denied path in it is denied",
    denyPath("a/secrets/**"),
    take("delete", "."),
    "deny by rules:it",
  ],
  [
    "Reading the parent of a denied path is not denied",
    denyPath("a/secrets/**"),
    read("a"),
    "allow by default",
  ],
];

/** Other spellings. */
const SPELLINGS: readonly Row[] = [
  [
    "A deny rule matches in another letter case",
    denySecrets,
    read("SECRETS/x"),
    "deny by rules:secrets",
  ],
  [
    "A deny pattern in another letter case matches",
    denyPath("Secrets/**"),
    read("secrets/x"),
    "deny by rules:it",
  ],
  ["An ask rule matches in another letter case", askDocs, read("Docs/x"), "ask by rules:docs"],
  [
    "An allow rule does not match in another letter case",
    allowSrc,
    read("SRC/a.ts"),
    "ask by default",
  ],
  [
    "An allowlist does not match in another letter case",
    writeSrc,
    edit("Src/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "A deny rule treats composed and decomposed names as equal",
    denyPath("café/**"),
    read("cafe\u0301/x"),
    "deny by rules:it",
  ],
  [
    "A decomposed deny pattern matches the composed name",
    denyPath("cafe\u0301/**"),
    read("café/x"),
    "deny by rules:it",
  ],
  [
    "An allow rule for a composed name does not match the decomposed name",
    allowPath("café/**"),
    read("cafe\u0301/x"),
    "ask by default",
  ],
  [
    "An allow rule for a decomposed name does not match the composed name",
    allowPath("cafe\u0301/**"),
    read("café/x"),
    "ask by default",
  ],
  [
    "A decomposed allow pattern matches the name with the same bytes",
    allowPath("cafe\u0301/**"),
    read("cafe\u0301/x"),
    "allow by rules:it",
  ],
  [
    "An absolute allow path is compared by its bytes",
    { external_roots: ["/srv"], rules: [{ id: "it", allow: { path: "/srv/café" } }] },
    read("/srv/cafe\u0301"),
    "ask by default",
  ],
  [
    "A look-alike name is not on a write allowlist",
    { default: "allow", write_path_allowlist: ["café/**"] },
    edit("cafe\u0301/x"),
    "deny by write_path_allowlist",
  ],
  [
    "A letter without its accent does not match",
    allowPath("café/**"),
    read("cafe/x"),
    "ask by default",
  ],
  [
    "An allow rule does not match full-width letters",
    allowSrc,
    read("ｓｒｃ/a.ts"),
    "ask by default",
  ],
  [
    "A deny rule does not match full-width letters",
    denySecrets,
    read("ｓｅｃｒｅｔｓ/x"),
    "allow by default",
  ],
  ["An allow rule does not match a Cyrillic letter", allowSrc, read("ѕrc/a.ts"), "ask by default"],
  [
    "An allowlist does not match a Cyrillic letter",
    writeSrc,
    edit("ѕrc/a.ts"),
    "deny by write_path_allowlist",
  ],
  ["A deny rule treats ß as ss", denyPath("strasse"), read("straße"), "deny by rules:it"],
  [
    "A deny rule treats the Kelvin sign as k",
    denyPath("key"),
    read("\u212Aey"),
    "deny by rules:it",
  ],
  [
    "A deny rule ignores invisible characters",
    denyPath(".git/**"),
    read(".g\u200Cit/config"),
    "deny by rules:it",
  ],
  [
    "An allow rule does not match with invisible characters",
    allowPath("src/**"),
    read("sr\u200Bc/x"),
    "ask by default",
  ],
  [
    "A deny rule ignores a final dot",
    denyPath("secrets/key"),
    read("secrets./key."),
    "deny by rules:it",
  ],
  [
    "A deny rule ignores final spaces",
    denyPath("secrets/key"),
    read("secrets /key  "),
    "deny by rules:it",
  ],
  [
    "A deny rule treats a backslash as a separator",
    denySecrets,
    read("secrets\\x"),
    "deny by rules:secrets",
  ],
  ["An ask rule treats a backslash as a separator", askDocs, read("docs\\x"), "ask by rules:docs"],
  ["An allow rule never matches a backslash", allowPath("**"), read("src\\a.ts"), "ask by default"],
  [
    "An allowlist never matches a backslash",
    { ...writeSrc, write_path_allowlist: ["**"] },
    edit("src\\a"),
    "deny by write_path_allowlist",
  ],
  [
    "src\\..\\x is an invalid path",
    open,
    read("src\\..\\x"),
    "deny by default_path_guard",
    ["invalid_path"],
  ],
  [
    "A path written with a backslash is never allowed, wherever it leads",
    allowSrc,
    read("src\\a.ts", { leads: { path: { workspacePath: "src/a.ts" } } }),
    "ask by default",
  ],
];

const allowPush = { rules: [{ id: "it", allow: { tool: "push", path: "src/**" } }] };
const push = (files: JsonValue) => call("push", { files });

/** Paths inside lists and objects, for a tool which does not declare its path arguments. */
const GUESSED: readonly Row[] = [
  [
    "A deny rule matches a path inside an object [W-03]",
    denySecrets,
    push({ path: "secrets/x" }),
    "deny by rules:secrets",
  ],
  [
    "A deny rule matches a path inside nested objects and lists",
    denySecrets,
    push([[{ at: { name: "secrets/x" } }]]),
    "deny by rules:secrets",
  ],
  [
    "A deny rule matches a path as an object key",
    denySecrets,
    push({ "secrets/x": "text" }),
    "deny by rules:secrets",
  ],
  [
    "The path checks apply to a path inside an object",
    open,
    push([{ path: "../x" }]),
    "deny by default_external_path",
  ],
  [
    "A path inside an object is never allowed by its path",
    allowPush,
    push([{ path: "src/a.ts" }]),
    "ask by default",
  ],
  [
    "A call with a number as a path argument is not allowed by its path",
    allowPush,
    call("push", { path: "src/a.ts", file: 7 }),
    "ask by default",
  ],
  [
    "A list of strings is allowed by its paths",
    allowPush,
    push(["src/a.ts", "src/b.ts"]),
    "allow by rules:it",
  ],
  [
    "The content of a file is not a path and is ignored",
    open,
    push([{ path: "src/a.ts", content: "x".repeat(5_000), note: "" }]),
    "allow by default",
  ],
  [
    "A path inside an object is not on a write allowlist",
    writeSrc,
    push([{ path: "src/a.ts" }]),
    "deny by write_path_allowlist",
  ],
  [
    "Too many possible paths are denied",
    open,
    push({ all: Array.from({ length: 300 }, (_, at) => `src/${at}`) }),
    "deny by default_path_guard",
  ],
];

export const PATH_CASES: readonly Row[] = [...GLOBS, ...WAYS, ...SPELLINGS, ...GUESSED];
