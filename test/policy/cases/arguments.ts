import type { JsonObject } from "../../../src/data/json.ts";
import { call, type Row } from "../policy-calls.ts";

const askByDefault = "ask by default";
const none = "allow by default";
const denied = "deny by rules:it";
const allowed = "allow by rules:it";

const deny = (args: unknown): object => ({
  rules: [{ id: "it", deny: { args } }],
  default: "allow",
});
const allow = (args: unknown): object => ({ rules: [{ id: "it", allow: { tool: "pay", args } }] });
const pay = (input: JsonObject) => call("pay", input);

/** An argument path in which a list stands between two levels of names. */
const LISTED: readonly Row[] = [
  [
    "A deny rule looks through a list inside an argument path [W-03]",
    deny({ "a.b": { equals: "evil" } }),
    pay({ a: [{ b: "good" }, { b: "evil" }] }),
    denied,
  ],
  [
    "A deny rule looks through nested lists",
    deny({ "a.b.c": { glob: "e*" } }),
    pay({ a: [[{ b: [{ c: "evil" }] }]] }),
    denied,
  ],
  [
    "A deny rule does not match a list without the value",
    deny({ "a.b": { equals: "evil" } }),
    pay({ a: [{ b: "good" }] }),
    none,
  ],
  [
    "A deny rule with exists matches if any item has the argument",
    deny({ "a.b": { exists: true } }),
    pay({ a: [{}, { b: 1 }] }),
    denied,
  ],
  [
    "An allow rule needs every item to match [W-03]",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [{ b: "good" }, { b: "evil" }] }),
    askByDefault,
  ],
  [
    "An allow rule does not match if an item lacks the argument",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [{ b: "good" }, {}] }),
    askByDefault,
  ],
  [
    "An allow rule matches if every item matches",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [{ b: "good" }, { b: "good" }] }),
    allowed,
  ],
  [
    "An allow rule does not match an empty list",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [] }),
    askByDefault,
  ],
  [
    "A number in an argument path is a list index",
    allow({ "a.1": { equals: "x" } }),
    pay({ a: ["y", "x"] }),
    allowed,
  ],
  [
    "A number in an argument path is also an object key",
    deny({ "a.0": { equals: "x" } }),
    pay({ a: [{ "0": "x" }] }),
    denied,
  ],
];

const denyProd = deny({ env: { equals: "prod" } });
const denyIn = deny({ env: { in: ["prod", "live"] } });
const denyInner = deny({ "o.f": { equals: "prod" } });

/** A deny rule matches a value in any spelling, and any value which may contain the denied value. */
const SPELT: readonly Row[] = [
  ["A denied equals matches in capitals", denyProd, pay({ env: "PROD" }), denied],
  [
    "A denied equals matches with invisible characters",
    denyProd,
    pay({ env: "pr\u200bod" }),
    denied,
  ],
  ["A denied equals matches with surrounding blanks", denyProd, pay({ env: " prod\n" }), denied],
  ["A denied equals matches in a nested list", denyProd, pay({ env: [["Prod"]] }), denied],
  ["A denied equals does not match a longer string", denyProd, pay({ env: "product" }), none],
  ["A denied in matches in capitals", denyIn, pay({ env: "Live" }), denied],
  ["A denied in matches with invisible characters", denyIn, pay({ env: "li\u00adve" }), denied],
  ["A denied in matches in a list", denyIn, pay({ env: ["a", "LIVE"] }), denied],
  ["A denied in does not match another value", denyIn, pay({ env: "test" }), none],
  [
    "A denied equals matches deep in an object, in any spelling",
    deny({ o: { equals: { f: ["prod", 1] } } }),
    pay({ o: { f: ["PROD", "1"] } }),
    denied,
  ],
  [
    "A denied equals does not match an object with more keys",
    deny({ o: { equals: { f: 1 } } }),
    pay({ o: { f: 1, g: 2 } }),
    none,
  ],
  [
    "A denied equals of a list matches an object with the same entries",
    deny({ o: { equals: ["a"] } }),
    pay({ o: { 0: "a" } }),
    denied,
  ],
  [
    "A denied expression matches with invisible characters",
    deny({ env: { matches: "^prod" } }),
    pay({ env: "p\u200brod" }),
    denied,
  ],
  [
    "An allowed equals is case-sensitive",
    allow({ env: { equals: "prod" } }),
    pay({ env: "PROD" }),
    askByDefault,
  ],
  [
    "An allowed in does not match with invisible characters",
    allow({ env: { in: ["prod"] } }),
    pay({ env: "pr\u200bod" }),
    askByDefault,
  ],
  [
    "A denied nested argument matches if a string on its path may contain it",
    denyInner,
    pay({ o: '{"f":"prod"}' }),
    denied,
  ],
  [
    "A denied nested argument matches if a string in a list on its path may contain it",
    denyInner,
    pay({ o: [{ f: "x" }, '{"f":"prod"}'] }),
    denied,
  ],
  ["A denied nested argument matches if a number is on its path", denyInner, pay({ o: 5 }), denied],
  [
    "A denied nested argument does not match if null is on its path",
    denyInner,
    pay({ o: null }),
    none,
  ],
  [
    "A denied nested argument does not match if its path is missing",
    denyInner,
    pay({ p: "x" }),
    none,
  ],
  [
    "A denied exists matches if a string on its path may contain it",
    deny({ "o.f": { exists: true } }),
    pay({ o: "f: 1" }),
    denied,
  ],
  [
    "An allowed nested argument does not match a string on its path",
    allow({ "o.f": { equals: "x" } }),
    pay({ o: '{"f":"x"}' }),
    askByDefault,
  ],
  [
    "Strings in a list have no indexes beyond its length",
    deny({ "to.5": { equals: "x" } }),
    pay({ to: ["a", "b"] }),
    none,
  ],
];

export const ARGUMENT_CASES: readonly Row[] = [
  ...LISTED,
  ...SPELT,
  [
    "A number within its limit is allowed",
    allow({ amount: { at_most: 100 } }),
    pay({ amount: 100 }),
    allowed,
  ],
  [
    "A number beyond its limit needs approval",
    allow({ amount: { at_most: 100 } }),
    pay({ amount: 101 }),
    askByDefault,
  ],
  [
    "A number in a string does not match an allow rule",
    allow({ amount: { at_most: 100 } }),
    pay({ amount: "5" }),
    askByDefault,
  ],
  [
    "A number in a string matches a deny rule",
    deny({ amount: { at_least: 100 } }),
    pay({ amount: "5000" }),
    denied,
  ],
  [
    "A number at its limit is denied",
    deny({ amount: { at_least: 100 } }),
    pay({ amount: 100 }),
    denied,
  ],
  [
    "A number below its limit is not denied",
    deny({ amount: { at_least: 100 } }),
    pay({ amount: 99 }),
    none,
  ],
  [
    "A number inside a range is allowed",
    allow({ amount: { at_least: 1, at_most: 9 } }),
    pay({ amount: 5 }),
    allowed,
  ],
  [
    "A number below a range needs approval",
    allow({ amount: { at_least: 1, at_most: 9 } }),
    pay({ amount: -5 }),
    askByDefault,
  ],
  [
    "A missing argument does not match an allow rule",
    allow({ amount: { at_most: 100 } }),
    pay({}),
    askByDefault,
  ],
  [
    "A missing argument does not match a deny rule",
    deny({ amount: { at_least: 100 } }),
    pay({}),
    none,
  ],
  [
    "A null argument counts as missing",
    allow({ amount: { at_most: 100 } }),
    pay({ amount: null }),
    askByDefault,
  ],
  [
    "An allowed equals matches the same value",
    allow({ to: { equals: "ada" } }),
    pay({ to: "ada" }),
    allowed,
  ],
  ["An allowed equals compares types", allow({ n: { equals: 1 } }), pay({ n: "1" }), askByDefault],
  [
    "An allowed equals compares whole objects in any key order",
    allow({ to: { equals: { a: 1, b: [2] } } }),
    pay({ to: { b: [2], a: 1 } }),
    allowed,
  ],
  [
    "An allowed equals does not match an object with more keys",
    allow({ to: { equals: { a: 1 } } }),
    pay({ to: { a: 1, b: 2 } }),
    askByDefault,
  ],
  [
    "A denied value inside a list is denied",
    deny({ to: { equals: "eve" } }),
    pay({ to: ["ada", "eve"] }),
    denied,
  ],
  [
    "An allowed in matches a listed value",
    allow({ to: { in: ["ada", "bob"] } }),
    pay({ to: "bob" }),
    allowed,
  ],
  [
    "An allowed in does not match another value",
    allow({ to: { in: ["ada", "bob"] } }),
    pay({ to: "eve" }),
    askByDefault,
  ],
  [
    "An allowed in needs every item of a list to be listed",
    allow({ to: { in: ["ada", "bob"] } }),
    pay({ to: ["ada", "eve"] }),
    askByDefault,
  ],
  [
    "A denied in matches a listed value",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: "force" }),
    denied,
  ],
  [
    "A denied in does not match an unlisted string, even with values of other types in the list",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: "harmless" }),
    none,
  ],
  [
    "A denied in matches a string that spells a listed value",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: ["harmless", "True"] }),
    denied,
  ],
  [
    "A denied in matches a value whose type differs from all listed values",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: 1 }),
    denied,
  ],
  [
    "A denied in matches a listed value deep in lists",
    deny({ to: { in: [true, "force", "b"] } }),
    pay({ to: [["a", ["force"]]] }),
    denied,
  ],
  [
    "An allowed in does not match an empty list",
    allow({ to: { in: ["ada"] } }),
    pay({ to: [] }),
    askByDefault,
  ],
  [
    "An allowed glob matches",
    allow({ to: { glob: "*@example.com" } }),
    pay({ to: "ada@example.com" }),
    allowed,
  ],
  [
    "An allowed glob must match the whole string",
    allow({ to: { glob: "*@example.com" } }),
    pay({ to: "ada@example.com.evil.com" }),
    askByDefault,
  ],
  [
    "A denied glob ignores letter case",
    deny({ to: { glob: "*@evil.com" } }),
    pay({ to: "x@EVIL.com" }),
    denied,
  ],
  [
    "An allowed glob does not match a value that is not a string",
    allow({ to: { glob: "*" } }),
    pay({ to: 5 }),
    askByDefault,
  ],
  [
    "A denied glob matches a value that is not a string",
    deny({ to: { glob: "*@evil.com" } }),
    pay({ to: { mail: "x" } }),
    denied,
  ],
  [
    "An allowed expression must match the whole string",
    allow({ ref: { matches: "[A-Z]{2}-\\d+" } }),
    pay({ ref: "AB-12" }),
    allowed,
  ],
  [
    "An allowed expression does not match a part of the string",
    allow({ ref: { matches: "[A-Z]{2}-\\d+" } }),
    pay({ ref: "x AB-12" }),
    askByDefault,
  ],
  [
    "An allowed expression does not end at a line break",
    allow({ ref: { matches: "^AB$" } }),
    pay({ ref: "AB\nrm" }),
    askByDefault,
  ],
  [
    "A denied expression matches anywhere in the string",
    deny({ note: { matches: "(?i)password" } }),
    pay({ note: "my PASSWORD is" }),
    denied,
  ],
  [
    "An expression that backtracks in other engines ends in linear time",
    deny({ note: { matches: "(x+x+)+y" } }),
    pay({ note: "x".repeat(50_000) }),
    none,
  ],
  [
    "An allowed exists true matches a present argument",
    allow({ note: { exists: true } }),
    pay({ note: "x" }),
    allowed,
  ],
  [
    "An allowed exists false matches a missing argument",
    allow({ force: { exists: false } }),
    pay({}),
    allowed,
  ],
  [
    "An allowed exists false does not match a present argument",
    allow({ force: { exists: false } }),
    pay({ force: false }),
    askByDefault,
  ],
  [
    "A dot in an argument name descends into an object",
    deny({ "to.mail": { equals: "x" } }),
    pay({ to: { mail: "x" } }),
    denied,
  ],
  [
    "A key with a dot does not replace a nested argument",
    allow({ "to.mail": { equals: "x" } }),
    pay({ "to.mail": "x", to: { mail: "y" } }),
    askByDefault,
  ],
  [
    "A number in an argument name descends into a list",
    deny({ "to.1": { equals: "x" } }),
    pay({ to: ["a", "x"] }),
    denied,
  ],
  [
    "All conditions of an argument have to match",
    allow({ to: { glob: "a*", in: ["ada", "bob"] } }),
    pay({ to: "bob" }),
    askByDefault,
  ],
  [
    "All arguments have to match",
    allow({ to: { equals: "ada" }, amount: { at_most: 5 } }),
    pay({ to: "ada", amount: 6 }),
    askByDefault,
  ],
  [
    "An inherited name such as constructor is not an argument",
    allow({ constructor: { exists: true } }),
    pay({}),
    askByDefault,
  ],
  ["An inherited toString is not an argument", deny({ toString: { exists: true } }), pay({}), none],
  [
    "__proto__ is an argument like any other",
    {
      rules: [{ id: "it", deny: { args: JSON.parse('{"__proto__":{"equals":"x"}}') } }],
      default: "allow",
    },
    pay(JSON.parse('{"__proto__":"x"}')),
    denied,
  ],
  [
    "A missing __proto__ is not an argument",
    {
      rules: [{ id: "it", deny: { args: JSON.parse('{"__proto__":{"exists":true}}') } }],
      default: "allow",
    },
    pay({}),
    none,
  ],
];
