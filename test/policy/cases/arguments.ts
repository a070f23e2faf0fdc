import type { JsonObject } from "../../../src/data/json.ts";
import { call, type Row } from "../policy-calls.ts";

const asked = "ask by default";
const none = "allow by default";
const denied = "deny by rules:it";
const allowed = "allow by rules:it";

const deny = (args: unknown): object => ({
  rules: [{ id: "it", deny: { args } }],
  default: "allow",
});
const allow = (args: unknown): object => ({ rules: [{ id: "it", allow: { tool: "pay", args } }] });
const pay = (input: JsonObject) => call("pay", input);

/** Lists between two levels of a name. */
const LISTED: readonly Row[] = [
  [
    "a list on the way hides nothing from a denial [W-03]",
    deny({ "a.b": { equals: "evil" } }),
    pay({ a: [{ b: "good" }, { b: "evil" }] }),
    denied,
  ],
  [
    "nor do lists in lists",
    deny({ "a.b.c": { glob: "e*" } }),
    pay({ a: [[{ b: [{ c: "evil" }] }]] }),
    denied,
  ],
  ["and it makes none up", deny({ "a.b": { equals: "evil" } }), pay({ a: [{ b: "good" }] }), none],
  [
    "one item that has it is there to a denial",
    deny({ "a.b": { exists: true } }),
    pay({ a: [{}, { b: 1 }] }),
    denied,
  ],
  [
    "every item has to fit to be allowed [W-03]",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [{ b: "good" }, { b: "evil" }] }),
    asked,
  ],
  [
    "an item that has none does not",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [{ b: "good" }, {}] }),
    asked,
  ],
  [
    "all that fit are allowed",
    allow({ "a.b": { equals: "good" } }),
    pay({ a: [{ b: "good" }, { b: "good" }] }),
    allowed,
  ],
  ["an empty list is nothing", allow({ "a.b": { equals: "good" } }), pay({ a: [] }), asked],
  ["a number is a place", allow({ "a.1": { equals: "x" } }), pay({ a: ["y", "x"] }), allowed],
  ["and a name", deny({ "a.0": { equals: "x" } }), pay({ a: [{ "0": "x" }] }), denied],
];

const denyProd = deny({ env: { equals: "prod" } });
const denyIn = deny({ env: { in: ["prod", "live"] } });
const denyInner = deny({ "o.f": { equals: "prod" } });

/** To a denial, a value in any spelling, and what may hold it. */
const SPELT: readonly Row[] = [
  ["equals in capitals", denyProd, pay({ env: "PROD" }), denied],
  ["equals with what is not seen", denyProd, pay({ env: "pr\u200bod" }), denied],
  ["equals with blanks around", denyProd, pay({ env: " prod\n" }), denied],
  ["equals in a list in a list", denyProd, pay({ env: [["Prod"]] }), denied],
  ["not another text", denyProd, pay({ env: "product" }), none],
  ["in, in capitals", denyIn, pay({ env: "Live" }), denied],
  ["in, with what is not seen", denyIn, pay({ env: "li\u00adve" }), denied],
  ["in, in a list", denyIn, pay({ env: ["a", "LIVE"] }), denied],
  ["not in", denyIn, pay({ env: "test" }), none],
  [
    "equals deep in an object",
    deny({ o: { equals: { f: ["prod", 1] } } }),
    pay({ o: { f: ["PROD", "1"] } }),
    denied,
  ],
  ["not an object with more", deny({ o: { equals: { f: 1 } } }), pay({ o: { f: 1, g: 2 } }), none],
  ["an object for a list", deny({ o: { equals: ["a"] } }), pay({ o: { 0: "a" } }), denied],
  [
    "an expression with what is not seen",
    deny({ env: { matches: "^prod" } }),
    pay({ env: "p\u200brod" }),
    denied,
  ],
  ["equals to allow is as it is", allow({ env: { equals: "prod" } }), pay({ env: "PROD" }), asked],
  ["in to allow is as it is", allow({ env: { in: ["prod"] } }), pay({ env: "pr\u200bod" }), asked],
  ["a text on the way may hold it", denyInner, pay({ o: '{"f":"prod"}' }), denied],
  ["a text in a list on the way", denyInner, pay({ o: [{ f: "x" }, '{"f":"prod"}'] }), denied],
  ["a number on the way is of another type", denyInner, pay({ o: 5 }), denied],
  ["null on the way is nothing", denyInner, pay({ o: null }), none],
  ["nothing on the way is nothing", denyInner, pay({ p: "x" }), none],
  ["a text on the way, and exists", deny({ "o.f": { exists: true } }), pay({ o: "f: 1" }), denied],
  [
    "a text on the way allows nothing",
    allow({ "o.f": { equals: "x" } }),
    pay({ o: '{"f":"x"}' }),
    asked,
  ],
  [
    "texts in a list have no places",
    deny({ "to.5": { equals: "x" } }),
    pay({ to: ["a", "b"] }),
    none,
  ],
];

export const ARGUMENT_CASES: readonly Row[] = [
  ...LISTED,
  ...SPELT,
  [
    "a number within its limit is allowed",
    allow({ amount: { at_most: 100 } }),
    pay({ amount: 100 }),
    allowed,
  ],
  ["one beyond it is asked", allow({ amount: { at_most: 100 } }), pay({ amount: 101 }), asked],
  [
    "a number as text is no number to an allowance",
    allow({ amount: { at_most: 100 } }),
    pay({ amount: "5" }),
    asked,
  ],
  [
    "a number as text is too much to a denial",
    deny({ amount: { at_least: 100 } }),
    pay({ amount: "5000" }),
    denied,
  ],
  [
    "a number that is too much is denied",
    deny({ amount: { at_least: 100 } }),
    pay({ amount: 100 }),
    denied,
  ],
  ["a smaller one is not", deny({ amount: { at_least: 100 } }), pay({ amount: 99 }), none],
  [
    "a range allows what is in it",
    allow({ amount: { at_least: 1, at_most: 9 } }),
    pay({ amount: 5 }),
    allowed,
  ],
  ["and nothing below", allow({ amount: { at_least: 1, at_most: 9 } }), pay({ amount: -5 }), asked],
  [
    "an argument that is missing is not allowed",
    allow({ amount: { at_most: 100 } }),
    pay({}),
    asked,
  ],
  ["an argument that is missing is not denied", deny({ amount: { at_least: 100 } }), pay({}), none],
  ["null is as good as missing", allow({ amount: { at_most: 100 } }), pay({ amount: null }), asked],
  ["equals compares", allow({ to: { equals: "ada" } }), pay({ to: "ada" }), allowed],
  ["equals compares types", allow({ n: { equals: 1 } }), pay({ n: "1" }), asked],
  [
    "equals compares whole objects, whatever their order",
    allow({ to: { equals: { a: 1, b: [2] } } }),
    pay({ to: { b: [2], a: 1 } }),
    allowed,
  ],
  [
    "an object with more is another",
    allow({ to: { equals: { a: 1 } } }),
    pay({ to: { a: 1, b: 2 } }),
    asked,
  ],
  [
    "a denied value in a list is denied",
    deny({ to: { equals: "eve" } }),
    pay({ to: ["ada", "eve"] }),
    denied,
  ],
  ["in is a choice", allow({ to: { in: ["ada", "bob"] } }), pay({ to: "bob" }), allowed],
  ["and no other", allow({ to: { in: ["ada", "bob"] } }), pay({ to: "eve" }), asked],
  [
    "every item of a list has to be a choice",
    allow({ to: { in: ["ada", "bob"] } }),
    pay({ to: ["ada", "eve"] }),
    asked,
  ],
  [
    "a denied choice is denied",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: "force" }),
    denied,
  ],
  [
    "a text that is none of the denied ones is not, whatever types the others have",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: "harmless" }),
    none,
  ],
  [
    "a text that spells a denied choice is denied",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: ["harmless", "True"] }),
    denied,
  ],
  [
    "what is of another type than all denied choices is denied",
    deny({ to: { in: [true, "force"] } }),
    pay({ to: 1 }),
    denied,
  ],
  [
    "a denied choice deep in lists is denied",
    deny({ to: { in: [true, "force", "b"] } }),
    pay({ to: [["a", ["force"]]] }),
    denied,
  ],
  ["an empty list is no choice", allow({ to: { in: ["ada"] } }), pay({ to: [] }), asked],
  [
    "a glob fits",
    allow({ to: { glob: "*@example.com" } }),
    pay({ to: "ada@example.com" }),
    allowed,
  ],
  [
    "a glob fits the whole",
    allow({ to: { glob: "*@example.com" } }),
    pay({ to: "ada@example.com.evil.com" }),
    asked,
  ],
  [
    "a denied glob hears another case",
    deny({ to: { glob: "*@evil.com" } }),
    pay({ to: "x@EVIL.com" }),
    denied,
  ],
  ["what is no text fits no allowed glob", allow({ to: { glob: "*" } }), pay({ to: 5 }), asked],
  [
    "what is no text fits a denied glob",
    deny({ to: { glob: "*@evil.com" } }),
    pay({ to: { mail: "x" } }),
    denied,
  ],
  [
    "an expression has to fit all to allow",
    allow({ ref: { matches: "[A-Z]{2}-\\d+" } }),
    pay({ ref: "AB-12" }),
    allowed,
  ],
  ["and not a part", allow({ ref: { matches: "[A-Z]{2}-\\d+" } }), pay({ ref: "x AB-12" }), asked],
  [
    "a line break does not end it",
    allow({ ref: { matches: "^AB$" } }),
    pay({ ref: "AB\nrm" }),
    asked,
  ],
  [
    "an expression denies wherever it is found",
    deny({ note: { matches: "(?i)password" } }),
    pay({ note: "my PASSWORD is" }),
    denied,
  ],
  [
    "an expression that would never end does",
    deny({ note: { matches: "(x+x+)+y" } }),
    pay({ note: "x".repeat(50_000) }),
    none,
  ],
  ["exists wants it there", allow({ note: { exists: true } }), pay({ note: "x" }), allowed],
  ["exists may want it away", allow({ force: { exists: false } }), pay({}), allowed],
  [
    "and then it may not be there",
    allow({ force: { exists: false } }),
    pay({ force: false }),
    asked,
  ],
  ["dots go deeper", deny({ "to.mail": { equals: "x" } }), pay({ to: { mail: "x" } }), denied],
  [
    "a name with a dot does not stand for it",
    allow({ "to.mail": { equals: "x" } }),
    pay({ "to.mail": "x", to: { mail: "y" } }),
    asked,
  ],
  ["numbers go into lists", deny({ "to.1": { equals: "x" } }), pay({ to: ["a", "x"] }), denied],
  [
    "all tests of an argument have to fit",
    allow({ to: { glob: "a*", in: ["ada", "bob"] } }),
    pay({ to: "bob" }),
    asked,
  ],
  [
    "all arguments have to fit",
    allow({ to: { equals: "ada" }, amount: { at_most: 5 } }),
    pay({ to: "ada", amount: 6 }),
    asked,
  ],
  [
    "a name that objects inherit is no argument",
    allow({ constructor: { exists: true } }),
    pay({}),
    asked,
  ],
  ["toString is no argument", deny({ toString: { exists: true } }), pay({}), none],
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
    "__proto__ of nobody is none",
    {
      rules: [{ id: "it", deny: { args: JSON.parse('{"__proto__":{"exists":true}}') } }],
      default: "allow",
    },
    pay({}),
    none,
  ],
];
