import { describe, expect, it } from "vitest";
import { fuzz } from "../../../../test/support/bytes/bytes.ts";
import { readPythonDict, type PythonValue } from "./python-literal.ts";
import { allowLongTests } from "../../../../test/support/test-depth.ts";

allowLongTests();

function valueOf(literal: string): PythonValue | undefined {
  const read = readPythonDict(`{'x': ${literal}}`);
  return read.ok ? read.dict.get("x") : undefined;
}

function reasonOf(text: string): string | undefined {
  const read = readPythonDict(text);
  return read.ok ? undefined : read.reason;
}

describe("Python literals", () => {
  it("Strings are read in all quoting styles of repr() [AC-76]", () => {
    expect([
      valueOf(String.raw`'plain'`),
      valueOf(String.raw`"it's"`),
      valueOf(String.raw`'say "hi"'`),
      valueOf(String.raw`'it\'s "both"'`),
      valueOf(String.raw`'\n\r\t\\\x07\xa0\u2028\U000e0001é'`),
      valueOf(String.raw`'\a\b\f\v\0\101\q'`),
      valueOf(`'日本 😀'`),
      valueOf("u'old'"),
    ]).toEqual([
      "plain",
      "it's",
      'say "hi"',
      `it's "both"`,
      "\n\r\t\\\x07\u00a0\u2028\u{e0001}é",
      "\x07\b\f\v\0A\\q",
      "日本 😀",
      "old",
    ]);
  });

  it("A lone surrogate is read as written [AC-81]", () => {
    expect(valueOf(String.raw`'smile \ud83d'`)).toBe("smile \ud83d");
  });

  it("Bytes are read as base64 [AC-76]", () => {
    const bytes = Buffer.from([0x00, 0xff, 0x27, 0x22]).toString("base64");
    expect(valueOf(String.raw`b'\x00\xff\'"'`)).toEqual({ kind: "bytes", base64: bytes });
  });

  it("Numbers, words and collections are read", () => {
    expect(
      valueOf("[1, -2.5, 1e3, 0x1f, True, False, None, (1,), {1, 2}, set(), {}, [], ()]"),
    ).toEqual([
      1,
      -2.5,
      1000,
      31,
      true,
      false,
      null,
      [1],
      [1, 2],
      { kind: "call", name: "set", positional: [], keywords: new Map() },
      new Map(),
      [],
      [],
    ]);
    expect(valueOf("[nan, inf, -inf]")).toEqual([NaN, Infinity, -Infinity]);
  });

  it("Integers that a double cannot represent are kept as strings [AC-82]", () => {
    expect(valueOf("9223372036854775807")).toBe("9223372036854775807");
    expect(valueOf("9007199254740991")).toBe(9007199254740991);
  });

  it("Calls are read with their arguments", () => {
    expect(valueOf("AgentResult(stop_reason='end_turn', message={'a': [1]}, state={})")).toEqual({
      kind: "call",
      name: "AgentResult",
      positional: [],
      keywords: new Map<string, PythonValue>([
        ["stop_reason", "end_turn"],
        ["message", new Map([["a", [1]]])],
        ["state", new Map()],
      ]),
    });
    expect(valueOf("datetime.datetime(2026, 1, 2)")).toEqual({
      kind: "call",
      name: "datetime.datetime",
      positional: [2026, 1, 2],
      keywords: new Map(),
    });
  });

  it("Objects without a literal form are skipped", () => {
    const objects = [
      "<strands.agent.agent.Agent object at 0xffff8a4eb230>",
      "<bound method A.f of <A object at 0x1>>",
      "<function f at 0x1>",
      "<Signature (a) -> int>",
      "<Foo of it's owner, and more>",
      "<Op.GREATER: '>'>",
      "Ellipsis",
      "1 of 2",
      "a b (c, d) 'e, f'",
      "{...}",
    ];
    for (const object of objects) {
      const read = readPythonDict(`{'before': 1, 'x': ${object}, 'after': 2}`);
      expect(read).toMatchObject({ ok: true, hasForeignValues: true });
      expect(read.ok && [read.dict.get("before"), read.dict.get("after")]).toEqual([1, 2]);
    }
  });

  it("A dict with a JSON form is recognized", () => {
    expect(readPythonDict("{'a': 1, 'b': [None, True, 'x']}")).toMatchObject({
      hasForeignValues: false,
    });
  });

  it("__proto__ is an ordinary key [AC-42]", () => {
    const read = readPythonDict("{'__proto__': {'polluted': True}}");
    expect(read.ok && read.dict.get("__proto__")).toEqual(new Map([["polluted", true]]));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("Reading stops after the requested keys", () => {
    const text = `{'data': 'x', 'agent': <A object at 0x1>, 'messages': [${"'y', ".repeat(10_000)}`;
    const read = readPythonDict(text, { requestedKeys: new Set(["data", "agent"]) });
    expect(read).toMatchObject({ ok: true, hasForeignValues: true });
    expect(read.steps).toBeLessThan(200);
  });

  it("Truncated and invalid text is refused with the reason [AC-76]", () => {
    expect([
      reasonOf("{'a': 'x"),
      reasonOf("{'a': <A object"),
      reasonOf("{'a': [1, 2"),
      reasonOf("{'a': "),
      reasonOf("{'a': 1} and more"),
      reasonOf("{'a': [1)}"),
      reasonOf(String.raw`{'a': '\x4'}`),
      reasonOf("{'a': b'日'}"),
      reasonOf("['a']"),
      reasonOf(""),
    ]).toEqual([
      "It ends inside a string",
      "It ends inside an object",
      "It ends inside a collection",
      "It ends inside a value",
      "Text follows its end",
      "A bracket at character 8 has no opening bracket",
      "A string has an invalid escape at character 8",
      "A bytes literal has a character that is not a byte",
      "It is not a dict",
      "It is not a dict",
    ]);
  });

  it("64 levels are read and 65 are refused [AC-77]", () => {
    const nested = (levels: number): string =>
      `{'a': ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(readPythonDict(nested(64)).ok).toBe(true);
    expect(reasonOf(nested(65))).toBe("It is nested deeper than 64 levels");
    expect(reasonOf(`{'a': ${"f(".repeat(100_000)}`)).toBe("It is nested deeper than 64 levels");
  });

  it("Text above the limit is refused without reading [AC-77]", () => {
    const read = readPythonDict(`{'a': '${"x".repeat(1000)}'}`, { maxCharacters: 100 });
    expect(read).toEqual({ ok: false, reason: "It is longer than 100 characters", steps: 1 });
  });

  it("Unmatched quotes and brackets cause linear work only [AC-77]", () => {
    const attacks = [
      `'`,
      `"`,
      `'"`,
      `\\'`,
      `<`,
      `<'`,
      `< "`,
      `a'`,
      `(`,
      `, '`,
      `{'a': `,
      `f(a=`,
      `word `,
      `'x', `,
      `<a>`,
      `b'`,
      `-`,
      `1 `,
      `] `,
      `: `,
    ];
    for (const attack of attacks) {
      for (const size of [1_000, 10_000, 100_000]) {
        const text = `{'a': ${attack.repeat(Math.ceil(size / attack.length))}`;
        expect(readPythonDict(text).steps, attack).toBeLessThan(6 * text.length);
      }
    }
  });

  it("Random text never causes a throw or more than linear work [AC-77]", () => {
    const pieces = ["'", '"', "\\", "<", ">", "(", ")", "[", "]", "{", "}", ",", ":", "=", " "];
    const more = ["a", "b'", "True", "1", "-", ".", "\\x4", "\\ud83d", "<A object at 0x1>", "日"];
    const all = [...pieces, ...more];
    let longest = 0;
    fuzz(20_000, (random) => {
      let text = "{'a': ";
      for (let count = random(60); count > 0; count--) text += all[random(all.length)] ?? "";
      const { steps } = readPythonDict(text);
      longest = Math.max(longest, steps / text.length);
    });
    expect(longest).toBeLessThan(6);
  });
});
