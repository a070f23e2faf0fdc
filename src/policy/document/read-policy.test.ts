import { describe, expect, it } from "vitest";
import { SpanlineError } from "../../domain/errors.ts";
import { readPolicy } from "./read-policy.ts";

function problemWith(document: unknown): { code: string; path: unknown; message: string } {
  try {
    readPolicy(document);
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    return { code: error.code, path: error.details["path"], message: error.message };
  }
  throw new Error("it was read");
}

const rule = (one: unknown): unknown => ({ rules: [{ deny: "a" }, { deny: "b" }, one] });
const match = (one: unknown): unknown => rule({ action: "deny", match: one });
const proto: unknown = JSON.parse('{"__proto__":[]}');

describe("Reading a policy document", () => {
  it.each([
    ["an array in place of the object", [], "policy", "expected an object"],
    ["no value", undefined, "policy", "missing"],
    ["a misspelled key", { auto_aprove: [] }, "policy.auto_aprove", 'did you mean "auto_approve"?'],
    ["an unknown key", { zebra: 1 }, "policy.zebra", 'expected "rules", '],
    ["a key __proto__", proto, "policy.__proto__", "does not exist"],
    ["a string in place of a list", { auto_deny: "x" }, "policy.auto_deny", "expected an array"],
    [
      "an unsupported character class in a path",
      { rules: [{ deny: { path: "key[0-9].txt" } }] },
      "policy.rules[0].deny.path",
      'is "key[0-9].txt", which has [; character classes are not supported',
    ],
    ["null in place of a list", { auto_deny: null }, "policy.auto_deny", "null is not a valid"],
    ["an empty allow", rule({ allow: null }), "policy.rules[2].allow", "write true"],
    ["an empty ask", rule({ ask: null }), "policy.rules[2].ask", "write true"],
    ["an empty deny", rule({ deny: null }), "policy.rules[2].deny", "write true"],
    [
      "an empty match",
      rule({ action: "allow", match: null }),
      "policy.rules[2].match",
      "is empty. Fix: write true for every call",
    ],
    [
      "a name that is not a string",
      { auto_deny: ["a", 5] },
      "policy.auto_deny[1]",
      "expected a string",
    ],
    [
      "an empty name",
      { auto_deny: [""] },
      "policy.auto_deny[0]",
      "expected a string that is not empty",
    ],
    ["a name with braces", { auto_deny: ["{a,b}"] }, "policy.auto_deny[0]", "only * and ?"],
    ["a name with !", { auto_approve: ["!a"] }, "policy.auto_approve[0]", "has !"],
    [
      "a name with a line break",
      { auto_approve: ["a\nb"] },
      "policy.auto_approve[0]",
      "cannot be seen",
    ],
    [
      "a list that is too long",
      { auto_deny: Array.from({ length: 1_001 }, () => "x") },
      "policy.auto_deny",
      "expected at most 1000",
    ],
    ["an unknown default", { default: "alow" }, "policy.default", 'did you mean "allow"?'],
    ["a default that is not a string", { default: true }, "policy.default", "true is not a valid"],
    [
      "a string in place of a flag",
      { allow_sensitive_paths: "true" },
      "policy.allow_sensitive_paths",
      "expected true or false",
    ],
    ["a limit of zero", { repeat_limit: 0 }, "policy.repeat_limit", "whole number from 1"],
    ["a limit that is not a number", { repeat_limit: "3" }, "policy.repeat_limit", "whole number"],
    [
      "a repeat action that allows",
      { repeat_action: "allow" },
      "policy.repeat_action",
      "expected ask or deny",
    ],
    [
      "a negated path",
      { write_path_allowlist: ["!src/**"] },
      "policy.write_path_allowlist[0]",
      "negation is not supported",
    ],
    [
      "an allowlist outside the workspace",
      { write_path_allowlist: ["/srv/**"] },
      "policy.write_path_allowlist[0]",
      "workspace only",
    ],
    [
      "an extended glob",
      { sensitive_path_patterns: ["+(a)"] },
      "policy.sensitive_path_patterns[0]",
      "extended glob",
    ],
    ["a relative root", { external_roots: ["srv"] }, "policy.external_roots[0]", "from the root"],
    [
      "the file system root",
      { external_roots: ["/"] },
      "policy.external_roots[0]",
      "empty segment",
    ],
    [
      "a root that is a pattern",
      { external_roots: ["/srv/*"] },
      "policy.external_roots[0]",
      "name the folder",
    ],
    [
      "a root with a parent segment",
      { external_roots: ["/srv/../etc"] },
      "policy.external_roots[0]",
      "segment ..",
    ],
    ["rules that are not a list", { rules: {} }, "policy.rules", "expected an array"],
    [
      "too many rules",
      { rules: Array.from({ length: 1_001 }, () => ({ deny: "x" })) },
      "policy.rules",
      "expected at most 1000",
    ],
    ["a string in place of a rule", rule("x"), "policy.rules[2]", "expected an object"],
    [
      "a rule with an unknown key",
      rule({ denny: "x" }),
      "policy.rules[2].denny",
      'did you mean "deny"?',
    ],
    [
      "a rule without an action",
      rule({ match: "x" }),
      "policy.rules[2].action",
      "expected allow, ask or deny",
    ],
    [
      "an unknown action",
      rule({ action: "dney", match: "x" }),
      "policy.rules[2].action",
      'did you mean "deny"?',
    ],
    [
      "the name of an inherited property as action",
      rule({ action: "constructor", match: "x" }),
      "policy.rules[2].action",
      "expected allow, ask or deny",
    ],
    [
      "a rule without a match",
      rule({ action: "deny" }),
      "policy.rules[2].match",
      "write true for every call",
    ],
    [
      "both action and deny",
      rule({ action: "deny", deny: "x" }),
      "policy.rules[2].deny",
      "conflicts with action",
    ],
    [
      "both match and deny",
      rule({ match: "y", deny: "x" }),
      "policy.rules[2].deny",
      "conflicts with match",
    ],
    [
      "two short actions",
      rule({ allow: "y", deny: "x" }),
      "policy.rules[2].allow",
      "conflicts with deny",
    ],
    [
      "both match and when",
      rule({ action: "deny", match: "x", when: "y" }),
      "policy.rules[2].when",
      "conflicts with match",
    ],
    [
      "both id and name",
      rule({ id: "a", name: "b", deny: "x" }),
      "policy.rules[2].name",
      "conflicts with id",
    ],
    [
      "a matcher key outside match",
      rule({ action: "deny", match: "x", tool: "y" }),
      "policy.rules[2].tool",
      "put it into policy.rules[2].match",
    ],
    [
      "a repeated id",
      {
        rules: [
          { id: "a", deny: "x" },
          { id: "a", ask: "y" },
        ],
      },
      "policy.rules[1].id",
      "the same as that of rules[0]",
    ],
    [
      "an id that is too long",
      rule({ id: "x".repeat(101), deny: "x" }),
      "policy.rules[2].id",
      "expected at most 100",
    ],
    [
      "approval options in a deny rule",
      rule({ deny: "x", approval: {} }),
      "policy.rules[2].approval",
      "no meaning",
    ],
    [
      "zero approvers",
      rule({ ask: "x", approval: { approvers: 0 } }),
      "policy.rules[2].approval.approvers",
      "from 1 to 16",
    ],
    [
      "approvers given by name",
      rule({ ask: "x", approval: { approvers: ["ada"] } }),
      "policy.rules[2].approval.approvers",
      "An array is not",
    ],
    [
      "metadata that is not an object",
      rule({ ask: "x", approval: { metadata: [] } }),
      "policy.rules[2].approval.metadata",
      "expected an object",
    ],
    [
      "metadata without a JSON form",
      rule({ ask: "x", approval: { metadata: { a: Number.NaN } } }),
      "policy.rules[2].approval.metadata.a",
      "expected a JSON value",
    ],
    [
      "metadata over the size limit",
      rule({ ask: "x", approval: { metadata: { a: "x".repeat(5_000) } } }),
      "policy.rules[2].approval.metadata",
      "is too long",
    ],
    [
      "a misspelled matcher key",
      match({ tol: "x" }),
      "policy.rules[2].match.tol",
      'did you mean "tool"?',
    ],
    [
      "an unknown matcher key",
      match({ persona: "x" }),
      "policy.rules[2].match.persona",
      "does not exist",
    ],
    ["an empty matcher", match({}), "policy.rules[2].match", "is empty"],
    ["a matcher that is false", match(false), "policy.rules[2].match", "false is not a valid"],
    ["a matcher that is an empty list", match([]), "policy.rules[2].match", "expected at least 1"],
    [
      "an empty list of patterns",
      match({ tool: [] }),
      "policy.rules[2].match.tool",
      "expected at least 1",
    ],
    [
      "too many patterns",
      match({ tool: Array.from({ length: 201 }, () => "x") }),
      "policy.rules[2].match.tool",
      "expected at most 200",
    ],
    [
      "a pattern that is too long",
      match({ tool: "x".repeat(1_001) }),
      "policy.rules[2].match.tool",
      "expected at most 1000",
    ],
    [
      "an unknown side effect [W-08]",
      match({ side_effect: "read" }),
      "policy.rules[2].match.side_effect",
      'did you mean "read_only"?',
    ],
    [
      "an unknown tool kind",
      match({ tool_kind: ["read", "write"] }),
      "policy.rules[2].match.tool_kind[1]",
      "expected read, ",
    ],
    [
      "a program with arguments",
      match({ command_identity: "git push" }),
      "policy.rules[2].match.command_identity",
      "match the whole command with command",
    ],
    [
      "a domain with a protocol",
      match({ domain: "https://x.com" }),
      "policy.rules[2].match.domain",
      "a host alone",
    ],
    [
      "a domain with a leading dot",
      match({ domain: ".x.com" }),
      "policy.rules[2].match.domain",
      "write *.x.com",
    ],
    [
      "a domain with non-ASCII letters",
      match({ domain: "bücher.de" }),
      "policy.rules[2].match.domain",
      "xn--",
    ],
    [
      "a URL without a path",
      match({ url: "https://x.com" }),
      "policy.rules[2].match.url",
      "https://example.com/*",
    ],
    [
      "a URL with a user name",
      match({ url: "https://a@x.com/" }),
      "policy.rules[2].match.url",
      "is not a URL pattern",
    ],
    [
      "an invalid HTTP method",
      match({ method: "GET /" }),
      "policy.rules[2].match.method",
      "such as GET",
    ],
    [
      "a negative count",
      match({ repeat_count_at_least: -1 }),
      "policy.rules[2].match.repeat_count_at_least",
      "from 0",
    ],
    [
      "arguments that are a list",
      match({ args: ["a"] }),
      "policy.rules[2].match.args",
      "names of arguments",
    ],
    [
      "no arguments",
      match({ args: {} }),
      "policy.rules[2].match.args",
      "expected at least one argument",
    ],
    [
      "an argument without a test",
      match({ args: { a: {} } }),
      "policy.rules[2].match.args.a",
      "expected some of equals, ",
    ],
    [
      "an unknown argument test",
      match({ args: { a: { equal: 1 } } }),
      "policy.rules[2].match.args.a.equal",
      'did you mean "equals"?',
    ],
    [
      "an argument name with two dots",
      match({ args: { "a..b": { exists: true } } }),
      "policy.rules[2].match.args.a..b",
      "is not a valid name",
    ],
    [
      "an empty list of choices",
      match({ args: { a: { in: [] } } }),
      "policy.rules[2].match.args.a.in",
      "expected at least 1",
    ],
    [
      "an expression with lookahead",
      match({ args: { a: { matches: "(?=x)" } } }),
      "policy.rules[2].match.args.a.matches",
      "linear time",
    ],
    [
      "an expression over the size limit",
      match({ args: { a: { matches: "((a{99}){99}){99}" } } }),
      "policy.rules[2].match.args.a.matches",
      "linear time",
    ],
    [
      "a string in place of a bound",
      match({ args: { a: { at_most: "5" } } }),
      "policy.rules[2].match.args.a.at_most",
      "expected a number",
    ],
    [
      "an allow rule for two commands at once",
      rule({ allow: { command: "ls && git log" } }),
      "policy.rules[2].allow.command",
      "one simple command",
    ],
    [
      "an allow rule by arguments without a tool",
      rule({ allow: { args: { dry: { equals: true } } } }),
      "policy.rules[2].allow.tool",
      "expected the tool",
    ],
  ])("A policy document with %s is refused", (_, document, path, part) => {
    const problem = problemWith(document);
    expect(problem.code).toBe("invalid_option");
    expect(problem.path).toBe(path);
    expect(problem.message).toContain(part);
    expect(problem.message).toContain(path);
  });

  it("Errors use the caller's name for the document", () => {
    expect(() => readPolicy({ x: 1 }, "agents.demo.policy")).toThrow(
      'Key "agents.demo.policy.x" does not exist',
    );
  });

  it("All fields of a policy document are read", () => {
    const policy = readPolicy({
      default: "deny",
      auto_approve: ["get_*"],
      require_approval: ["edit_*"],
      auto_deny: ["drop_*"],
      write_path_allowlist: ["src/**"],
      sensitive_path_patterns: ["internal/**"],
      external_roots: ["/srv/"],
      repeat_limit: 3,
      repeat_action: "deny",
      rules: [
        {
          name: "pay",
          require_approval: {
            tool: "pay",
            args: { "to.mail": { glob: "*@x.com" }, amount: { at_most: 5 } },
          },
          reason: "money",
          approval: { prompt: "Pay?", risk: "high", approvers: 2, metadata: { b: 1, a: 2 } },
        },
      ],
    });
    expect(policy).toEqual({
      layers: [
        {
          rules: [
            {
              source: "rules",
              index: 0,
              id: "pay",
              action: "ask",
              match: {
                tool: ["pay"],
                args: [
                  { name: ["amount"], atMost: 5 },
                  { name: ["to", "mail"], glob: "*@x.com" },
                ],
              },
              reason: "money",
              approvers: 2,
              approval: { prompt: "Pay?", risk: "high", metadata: { a: 2, b: 1 } },
            },
            listed("auto_deny", "deny", "drop_*"),
            listed("require_approval", "ask", "edit_*"),
            listed("auto_approve", "allow", "get_*"),
          ],
          writePathAllowlist: ["src/**"],
          sensitivePathPatterns: ["internal/**"],
          allowSensitivePaths: false,
          externalRoots: ["/srv"],
          allowExternalPaths: false,
          allowUnparsedCommands: false,
          repeatLimit: 3,
          repeatAction: "deny",
          default: "deny",
        },
      ],
    });
    expect(JSON.parse(JSON.stringify(policy))).toEqual(policy);
  });

  it("The parsed policy does not depend on the order of keys", () => {
    const one = {
      default: "ask",
      rules: [
        {
          deny: {
            tool: "x",
            path: "y",
            args: { b: { equals: { c: 1, d: 2 } }, a: { exists: true } },
          },
        },
      ],
    };
    const other = {
      rules: [
        {
          deny: {
            args: { a: { exists: true }, b: { equals: { d: 2, c: 1 } } },
            path: "y",
            tool: "x",
          },
        },
      ],
      default: "ask",
    };
    expect(JSON.stringify(readPolicy(one))).toBe(JSON.stringify(readPolicy(other)));
  });

  it("The default of a policy is ask [W-06]", () => {
    expect(readPolicy({}).layers[0]?.default).toBe("ask");
  });

  it("A missing write allowlist differs from an empty one [W-05]", () => {
    expect(readPolicy({}).layers[0]?.writePathAllowlist).toBeNull();
    expect(readPolicy({ write_path_allowlist: [] }).layers[0]?.writePathAllowlist).toEqual([]);
  });
});

function listed(source: string, action: string, pattern: string): object {
  const match = { tool: [pattern] };
  return { source, index: 0, id: null, action, match, reason: null, approvers: 1, approval: null };
}
