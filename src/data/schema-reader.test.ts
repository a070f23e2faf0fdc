import * as fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  anything,
  array,
  boolean,
  integer,
  json,
  nullable,
  nullish,
  number,
  object,
  oneOf,
  oneOrMore,
  optional,
  record,
  refine,
  string,
  union,
  variants,
  withDefault,
  type Infer,
  type Schema,
} from "./schema-reader.ts";
import { SchemaError, throwInvalid, throwProblem, type Issue } from "./schema-error.ts";

function findIssues(schema: Schema<unknown>, value: unknown, path = "config"): readonly Issue[] {
  try {
    schema(value, path);
  } catch (error) {
    if (error instanceof SchemaError) return error.issues;
    throw error;
  }
  return [];
}

function messages(schema: Schema<unknown>, value: unknown, path?: string): readonly string[] {
  return findIssues(schema, value, path).map(({ message }) => message);
}

const SERVER = object({
  host: optional(string()),
  port: withDefault(integer({ min: 0, max: 65_535 }), 4777),
  mode: optional(oneOf(["allow", "ask", "deny"])),
  names: withDefault(array(string({ max: 5 }), { max: 3 }), []),
});

describe("Schemas", () => {
  it("An object schema returns present members and defaults, and leaves out absent members", () => {
    expect(SERVER({ host: "h", mode: undefined }, "config")).toEqual({
      host: "h",
      port: 4777,
      names: [],
    });
    expectTypeOf<Infer<typeof SERVER>>().toMatchObjectType<{
      readonly host?: string;
      readonly port: number;
      readonly mode?: "allow" | "ask" | "deny";
      readonly names: readonly string[] | readonly [];
    }>();
  });

  it("Each problem is reported with its exact path and the expected value", () => {
    expect(findIssues(SERVER, { host: 5, port: 70_000, names: ["a", "toolong"] })).toEqual([
      {
        path: "config.host",
        code: "invalid_type",
        message: "5 is not a valid config.host: expected a string",
      },
      {
        path: "config.port",
        code: "invalid_value",
        message: "70000 is not a valid config.port: expected a whole number from 0 to 65535",
      },
      {
        path: "config.names[1]",
        code: "string_too_long",
        message: "config.names[1] has 7 characters: expected at most 5",
      },
    ]);
  });

  it.each([
    [string(), undefined, "config is missing: expected a string"],
    [
      string({ isFilled: true }),
      " ",
      '" " is not a valid config: expected a string that is not empty',
    ],
    [
      string({ pattern: /^a$/, expected: "the letter a", fix: "write a" }),
      "b",
      '"b" is not a valid config: expected the letter a. Fix: write a',
    ],
    [string({ isSecret: true }), 5, "The value is not a valid config: expected a string"],
    [boolean(), "yes", '"yes" is not a valid config: expected true or false'],
    [number({ above: 0 }), 0, "0 is not a valid config: expected a number above 0"],
    [number(), Infinity, "Infinity is not a valid config: expected a number"],
    [number({ max: 2 }), 3, "3 is not a valid config: expected a number up to 2"],
    [integer({ min: 1 }), 1.5, "1.5 is not a valid config: expected a whole number, at least 1"],
    [
      oneOf(["allow", "ask"]),
      "alow",
      '"alow" is not a valid config: expected allow or ask. Fix: did you mean "allow"?',
    ],
    [oneOf(["allow", "ask"]), null, "null is not a valid config: expected allow or ask"],
    [array(string()), {}, "An object is not a valid config: expected an array"],
    [array(string(), { max: 1 }), ["", ""], "config has 2 entries: expected at most 1"],
    [oneOrMore(string()), [], "config has 0 entries: expected at least 1"],
    [record(string(), { max: 0 }), { a: "" }, "config has 1 entries: expected at most 0"],
    [nullable(string()), 5, "5 is not a valid config: expected a string"],
    [
      union<unknown>("a string or true", string(), oneOf([])),
      5,
      "5 is not a valid config: expected a string or true",
    ],
    [
      union<unknown>("true or an object", boolean(), object({ seconds: number() })),
      { second: 1 },
      'Key "config.second" does not exist: expected "seconds". Fix: did you mean "seconds"?',
    ],
    [
      union<unknown>("numbers or strings", array(number()), array(string())),
      [true],
      "An array is not a valid config: expected numbers or strings",
    ],
    [
      json({ maxDepth: 2, maxLength: 5 }),
      "12345",
      "config is too long: expected at most 5 characters as JSON",
    ],
    [json({ maxDepth: 2 }), () => 1, "A function is not a valid config: expected a JSON value"],
    [object({}), [], "An array is not a valid config: expected an object"],
  ] as const)(
    "A problem has the standard wording: %#",
    (schema: Schema<unknown>, value: unknown, message) => {
      expect(messages(schema, value)).toEqual([message]);
    },
  );

  it("A known name is suggested for an unknown name, or the known names are listed", () => {
    const schema = object({ host: anything, port: anything });
    expect(messages(schema, { prot: 1, zzzzzzzz: 2, host: 3 })).toEqual([
      'Key "config.prot" does not exist: expected "host" or "port". Fix: did you mean "port"?',
      'Key "config.zzzzzzzz" does not exist: expected "host" or "port"',
    ]);
    expect(messages(schema, { prot: 1 }, "")).toEqual([
      'Key "prot" does not exist: expected "host" or "port". Fix: did you mean "port"?',
    ]);
    expect(messages(object({}, { otherNames: "ignore" }), { a: 1 })).toEqual([]);
  });

  it("The outermost value is named in messages when the path is empty", () => {
    expect(messages(object({}), 5, "")).toEqual(["5 is not valid: expected an object"]);
    expect(messages(object({}), undefined, "")).toEqual([
      "The value is missing: expected an object",
    ]);
  });

  it("A variant is selected by its tag", () => {
    const schema = variants("type", {
      a: object({ type: oneOf(["a"]), size: integer() }),
      b: object({ type: oneOf(["b"]) }),
    });
    expectTypeOf<Infer<typeof schema>>().toMatchTypeOf<
      { readonly type: "a"; readonly size: number } | { readonly type: "b" }
    >();
    expect(schema({ type: "a", size: 1 }, "x")).toEqual({ type: "a", size: 1 });
    expect(messages(schema, { type: "constructor" })).toEqual([
      '"constructor" is not a valid config.type: expected a or b',
    ]);
    expect(messages(schema, { type: "b", size: 1 })).toHaveLength(1);
    expect(messages(schema, 1)).toEqual(["1 is not a valid config: expected an object with type"]);
  });

  it("A single value or an array is read as an array", () => {
    expect(oneOrMore(string())("a", "x")).toEqual(["a"]);
    expect(oneOrMore(string())(["a", "b"], "x")).toEqual(["a", "b"]);
  });

  it("An absent member and a null member are both read as null", () => {
    expect(object({ a: nullish(string()) })({}, "x")).toEqual({ a: null });
    expect(object({ a: nullish(string()) })({ a: null }, "x")).toEqual({ a: null });
  });

  it("A refinement can change or reject a value", () => {
    const even = refine(integer(), (value, path) =>
      value % 2 === 0 ? value / 2 : throwInvalid({ path, value, expected: "an even number" }),
    );
    expect(even(4, "x")).toBe(2);
    expect(messages(even, 3)).toEqual(["3 is not a valid config: expected an even number"]);
  });

  it("An error other than a SchemaError is passed on", () => {
    const fails: Schema<never> = () => {
      throw new RangeError("other");
    };
    expect(() => object({ a: fails })({}, "x")).toThrow(RangeError);
    expect(() => array(fails)([1], "x")).toThrow(RangeError);
  });

  it("__proto__ and constructor are treated as data", () => {
    const value: unknown = JSON.parse('{"__proto__": {"host": "evil"}}');
    expect(messages(SERVER, value)).toEqual([
      'Key "config.__proto__" does not exist: expected "host", "port", "mode" or "names"',
    ]);
    const read = record(anything)(value, "x");
    expect(Object.hasOwn(read, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(JSON.stringify(json({ maxDepth: 5 })(value, "x"))).toBe(JSON.stringify(value));
    expect(object({ constructor: optional(string()) })({}, "x")).toEqual({});
  });

  it("A schema stops after 20 problems and reports five of them in the message", () => {
    const many = Array.from({ length: 100_000 }, () => 1);
    const issues = findIssues(array(string()), many);
    expect(issues).toHaveLength(20);
    expect(() => array(string())(many, "config")).toThrow(
      [0, 1, 2, 3, 4].map((at) => `1 is not a valid config[${at}]: expected a string`).join(". "),
    );
  });

  it("Long names and values are shortened in messages", () => {
    const [message = ""] = messages(object({}), { ["x".repeat(100_000)]: 1 });
    expect(message.length).toBeLessThan(300);
    const [issue] = findIssues(record(string()), { ["x".repeat(100_000)]: 1 });
    expect(issue?.path.length).toBeLessThan(300);
    expect(messages(integer(), "x".repeat(100_000))[0]?.length).toBeLessThan(200);
  });

  it("JSON nested deeper than the limit is refused with its path", () => {
    const schema = json({ maxDepth: 3 });
    expect(schema({ a: [1] }, "config")).toEqual({ a: [1] });
    expect(findIssues(schema, { a: [[1]] })).toEqual([
      {
        path: "config.a[0][0]",
        code: "too_deep",
        message: "config.a[0][0] is nested deeper than 3 levels",
      },
    ]);
  });

  it("A string and an array of exactly the limit are accepted, and longer ones are refused", () => {
    expect(string({ max: 3 })("abc", "x")).toBe("abc");
    expect(findIssues(string({ max: 3 }), "abcd")).toMatchObject([{ code: "string_too_long" }]);
    expect(array(string(), { max: 1 })(["a"], "x")).toEqual(["a"]);
    expect(findIssues(array(string(), { max: 1 }), ["a", "b"])).toMatchObject([
      { code: "too_many_entries" },
    ]);
  });

  it("A problem message starts with the path", () => {
    const schema: Schema<never> = (_, path) => throwProblem(path, "is empty", "write a name");
    expect(messages(schema, 1)).toEqual(["config is empty. Fix: write a name"]);
    expect(messages(schema, 1, "")).toEqual(["The value is empty. Fix: write a name"]);
  });
});

describe("Any value", () => {
  it("The JSON schema returns JSON values unchanged", () => {
    const schema = json({ maxDepth: 100 });
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(schema(value, "x"))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("Any value is read or refused with a SchemaError whose path starts with the given path", () => {
    const schema = object({ a: optional(SERVER), b: record(array(integer())), c: anything });
    const input = fc.oneof(
      fc.anything(),
      fc.record({ a: fc.anything(), b: fc.dictionary(fc.string(), fc.anything()) }),
    );
    fc.assert(
      fc.property(input, (value) => {
        for (const { path, message } of findIssues(schema, value, "root")) {
          expect(path.startsWith("root")).toBe(true);
          // A message quotes the path of an unknown key as JSON.
          const quoted = JSON.stringify(path).slice(1, -1);
          expect(message).toContain(message.includes(path) ? path : quoted);
        }
      }),
    );
  });

  it("A value inside a tree is refused at exactly its path", () => {
    const { tree } = fc.letrec<{ tree: readonly [unknown, string] }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 8 },
        fc.constant([() => 1, ""] as const),
        fc
          .tuple(tie("tree"), fc.nat(3))
          .map(
            ([[value, path], at]) =>
              [[...Array.from({ length: at }, () => 0), value], `[${at}]${path}`] as const,
          ),
        fc
          .tuple(tie("tree"), fc.constantFrom("a", "__proto__", "toString"))
          .map(
            ([[value, path], name]) =>
              [Object.fromEntries([[name, value]]), `.${name}${path}`] as const,
          ),
      ),
    }));
    fc.assert(
      fc.property(tree, ([value, path]) => {
        expect(findIssues(json({ maxDepth: 20 }), value, "root")).toMatchObject([
          { path: `root${path}` },
        ]);
      }),
    );
  });
});
