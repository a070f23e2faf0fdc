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
  ["src/** fits a file deep below [W-03]", allowSrc, read("src/a/b/c.ts"), "allow by rules:src"],
  ["src/** fits a file right below [W-03]", allowSrc, read("src/a.ts"), "allow by rules:src"],
  ["src/** fits the folder", allowSrc, read("src"), "allow by rules:src"],
  ["src/** fits a hidden file", allowSrc, read("src/.hidden/x"), "allow by rules:src"],
  [
    "src/** does not fit a neighbour with the same beginning",
    allowSrc,
    read("src2/a.ts"),
    "ask by default",
  ],
  [
    "src/** does not fit a folder src further down",
    allowSrc,
    read("lib/src/a.ts"),
    "ask by default",
  ],
  [
    "a star in the middle fits [W-03]",
    allowPath("src/*/index.ts"),
    read("src/a/index.ts"),
    "allow by rules:it",
  ],
  ["a star does not cross a slash", allowPath("src/*.ts"), read("src/a/b.ts"), "ask by default"],
  ["a star fits a name with a line break", denyPath("src/*"), read("src/a\nb"), "deny by rules:it"],
  ["** fits names with line breaks", denyPath("**/x"), read("a\nb/x"), "deny by rules:it"],
  ["a question mark is one character", allowPath("v?.md"), read("v1.md"), "allow by rules:it"],
  ["a question mark is not two", allowPath("v?.md"), read("v10.md"), "ask by default"],
  ["a question mark is a whole emoji", allowPath("?.md"), read("😀.md"), "allow by rules:it"],
  ["braces are choices [W-03]", allowPath("{src,test}/**"), read("test/a.ts"), "allow by rules:it"],
  ["braces do not reach further", allowPath("{src,test}/**"), read("docs/a.md"), "ask by default"],
  [
    "round brackets are letters",
    allowPath("app/(group)/x"),
    read("app/(group)/x"),
    "allow by rules:it",
  ],
  ["a dot is a dot", allowPath("a.ts"), read("axts"), "ask by default"],
  ["a plus is a plus", allowPath("a+.ts"), read("aaa.ts"), "ask by default"],
  [
    "one of several patterns is enough",
    allowPath(["a/**", "b/**"]),
    read("b/x"),
    "allow by rules:it",
  ],
  ["** fits the workspace itself", allowPath("**"), read("."), "allow by rules:it"],
  ["* does not fit the workspace itself", allowPath("*"), read("."), "ask by default"],
  [
    "a denied folder is denied with all in it",
    denyPath("secrets"),
    read("secrets/deep/x"),
    "deny by rules:it",
  ],
  ["an allowed folder is that folder alone", allowPath("src"), read("src/a.ts"), "ask by default"],
  ["a denied star denies its own level", denyPath("src/*"), read("src/a/b"), "allow by default"],
];

/** Where a path leads counts, not how it is written. */
const WAYS: readonly Row[] = [
  ["src/../x does not pass src/** [W-04]", allowSrc, read("src/../x"), "ask by default"],
  [
    "src/../x does not pass an allowlist [W-04]",
    writeSrc,
    edit("src/../x"),
    "deny by write_path_allowlist",
  ],
  ["src/./a passes as src/a [W-04]", allowSrc, read("src/./a.ts"), "allow by rules:src"],
  ["x/../src/a passes as src/a [W-04]", allowSrc, read("x/../src/a.ts"), "allow by rules:src"],
  [
    "an absolute path into the workspace passes",
    allowSrc,
    read("/work/src/a.ts"),
    "allow by rules:src",
  ],
  ["a/../secrets/x is denied", denySecrets, read("a/../secrets/x"), "deny by rules:secrets"],
  ["./secrets/x is denied", denySecrets, read("./secrets/x"), "deny by rules:secrets"],
  ["secrets//x is denied", denySecrets, read("secrets//x"), "deny by rules:secrets"],
  [
    "a symlink in src that leads away is not in src [W-04]",
    allowSrc,
    read("src/link", { leads: { path: { workspacePath: "secrets/x" } } }),
    "ask by default",
  ],
  [
    "a symlink that leads into secrets is denied [W-04]",
    denySecrets,
    read("src/link", { leads: { path: { workspacePath: "secrets/x" } } }),
    "deny by rules:secrets",
  ],
  [
    "a symlink in secrets that leads elsewhere is denied by its name",
    denySecrets,
    read("secrets/link", { leads: { path: { workspacePath: "src/x" } } }),
    "deny by rules:secrets",
  ],
  [
    "a symlink out of the workspace is outside",
    open,
    read("src/link", {
      leads: { path: { location: "outside", workspacePath: null, hostPath: "/etc/hosts" } },
    }),
    "deny by default_external_path",
    ["external_path"],
  ],
  [
    "writing by a symlink out of the allowlist is denied [W-04]",
    writeSrc,
    edit("src/link", { leads: { path: { workspacePath: "lib/x" } } }),
    "deny by write_path_allowlist",
    ["write_path_not_allowed"],
  ],
  [
    "writing by a symlink into the allowlist passes [W-04]",
    writeSrc,
    edit("link", { leads: { path: { workspacePath: "src/x" } } }),
    "allow by default",
  ],
  [
    "moving a folder takes what is denied in it along",
    denyPath("a/secrets/**"),
    take("move", "a"),
    "deny by rules:it",
  ],
  [
    "deleting the workspace takes it along too",
    denyPath("a/secrets/**"),
    take("delete", "."),
    "deny by rules:it",
  ],
  ["reading the folder above does not", denyPath("a/secrets/**"), read("a"), "allow by default"],
];

/** Other spellings. */
const SPELLINGS: readonly Row[] = [
  ["another case is denied", denySecrets, read("SECRETS/x"), "deny by rules:secrets"],
  [
    "a pattern in another case denies",
    denyPath("Secrets/**"),
    read("secrets/x"),
    "deny by rules:it",
  ],
  ["another case is asked about", askDocs, read("Docs/x"), "ask by rules:docs"],
  ["another case is not allowed", allowSrc, read("SRC/a.ts"), "ask by default"],
  [
    "another case does not pass an allowlist",
    writeSrc,
    edit("Src/a.ts"),
    "deny by write_path_allowlist",
  ],
  [
    "composed and decomposed are one name to a denial",
    denyPath("café/**"),
    read("cafe\u0301/x"),
    "deny by rules:it",
  ],
  [
    "a decomposed pattern denies the composed name",
    denyPath("cafe\u0301/**"),
    read("café/x"),
    "deny by rules:it",
  ],
  [
    "a decomposed name is another file to an allowance of the composed one",
    allowPath("café/**"),
    read("cafe\u0301/x"),
    "ask by default",
  ],
  [
    "a composed name is another file to an allowance of the decomposed one",
    allowPath("cafe\u0301/**"),
    read("café/x"),
    "ask by default",
  ],
  [
    "a decomposed pattern allows the name that has its bytes",
    allowPath("cafe\u0301/**"),
    read("cafe\u0301/x"),
    "allow by rules:it",
  ],
  [
    "a path from the root of the machine is compared by its bytes too",
    { external_roots: ["/srv"], rules: [{ id: "it", allow: { path: "/srv/café" } }] },
    read("/srv/cafe\u0301"),
    "ask by default",
  ],
  [
    "a writing tool does not pass an allowlist by a look-alike",
    { default: "allow", write_path_allowlist: ["café/**"] },
    edit("cafe\u0301/x"),
    "deny by write_path_allowlist",
  ],
  ["an accent is not nothing", allowPath("café/**"), read("cafe/x"), "ask by default"],
  [
    "full-width letters are others to an allowance",
    allowSrc,
    read("ｓｒｃ/a.ts"),
    "ask by default",
  ],
  [
    "full-width letters are others to a denial",
    denySecrets,
    read("ｓｅｃｒｅｔｓ/x"),
    "allow by default",
  ],
  ["a Cyrillic letter is another to an allowance", allowSrc, read("ѕrc/a.ts"), "ask by default"],
  [
    "a Cyrillic letter is another to an allowlist",
    writeSrc,
    edit("ѕrc/a.ts"),
    "deny by write_path_allowlist",
  ],
  ["ß is ss to a denial", denyPath("strasse"), read("straße"), "deny by rules:it"],
  ["the Kelvin sign is a k to a denial", denyPath("key"), read("\u212Aey"), "deny by rules:it"],
  [
    "what cannot be seen is left out by a denial",
    denyPath(".git/**"),
    read(".g\u200Cit/config"),
    "deny by rules:it",
  ],
  [
    "what cannot be seen is not allowed",
    allowPath("src/**"),
    read("sr\u200Bc/x"),
    "ask by default",
  ],
  [
    "a dot at the end is left out by a denial",
    denyPath("secrets/key"),
    read("secrets./key."),
    "deny by rules:it",
  ],
  [
    "spaces at the end are left out by a denial",
    denyPath("secrets/key"),
    read("secrets /key  "),
    "deny by rules:it",
  ],
  [
    "a backslash is a separator to a denial",
    denySecrets,
    read("secrets\\x"),
    "deny by rules:secrets",
  ],
  ["a backslash is a separator to a question", askDocs, read("docs\\x"), "ask by rules:docs"],
  ["a backslash is never allowed", allowPath("**"), read("src\\a.ts"), "ask by default"],
  [
    "a backslash never passes an allowlist",
    { ...writeSrc, write_path_allowlist: ["**"] },
    edit("src\\a"),
    "deny by write_path_allowlist",
  ],
  [
    "src\\..\\x leads nowhere",
    open,
    read("src\\..\\x"),
    "deny by default_path_guard",
    ["invalid_path"],
  ],
  [
    "a backslash as the model wrote it is never allowed, wherever it leads",
    allowSrc,
    read("src\\a.ts", { leads: { path: { workspacePath: "src/a.ts" } } }),
    "ask by default",
  ],
];

const allowPush = { rules: [{ id: "it", allow: { tool: "push", path: "src/**" } }] };
const push = (files: JsonValue) => call("push", { files });

/** Paths in other things than text, of a tool that does not say what its paths are. */
const GUESSED: readonly Row[] = [
  [
    "a path in an object is seen by a denial [W-03]",
    denySecrets,
    push({ path: "secrets/x" }),
    "deny by rules:secrets",
  ],
  [
    "and in objects in lists in lists",
    denySecrets,
    push([[{ at: { name: "secrets/x" } }]]),
    "deny by rules:secrets",
  ],
  ["and as a name", denySecrets, push({ "secrets/x": "text" }), "deny by rules:secrets"],
  ["and by the guards", open, push([{ path: "../x" }]), "deny by default_external_path"],
  [
    "it is never allowed by its path, wherever it leads",
    allowPush,
    push([{ path: "src/a.ts" }]),
    "ask by default",
  ],
  [
    "a number is not either",
    allowPush,
    call("push", { path: "src/a.ts", file: 7 }),
    "ask by default",
  ],
  ["a list of texts is", allowPush, push(["src/a.ts", "src/b.ts"]), "allow by rules:it"],
  [
    "what a file holds is no path, and nothing wrong",
    open,
    push([{ path: "src/a.ts", content: "x".repeat(5_000), note: "" }]),
    "allow by default",
  ],
  [
    "it does not pass an allowlist",
    writeSrc,
    push([{ path: "src/a.ts" }]),
    "deny by write_path_allowlist",
  ],
  [
    "too many are denied",
    open,
    push({ all: Array.from({ length: 300 }, (_, at) => `src/${at}`) }),
    "deny by default_path_guard",
  ],
];

export const PATH_CASES: readonly Row[] = [...GLOBS, ...WAYS, ...SPELLINGS, ...GUESSED];
