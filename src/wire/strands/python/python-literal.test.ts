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
  it("reads strings in all the ways that repr() quotes them [AC-76]", () => {
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

  it("reads half a surrogate pair as it was written [AC-81]", () => {
    expect(valueOf(String.raw`'smile \ud83d'`)).toBe("smile \ud83d");
  });

  it("reads bytes as base64 [AC-76]", () => {
    const bytes = Buffer.from([0x00, 0xff, 0x27, 0x22]).toString("base64");
    expect(valueOf(String.raw`b'\x00\xff\'"'`)).toEqual({ kind: "bytes", base64: bytes });
  });

  it("reads numbers, words and collections", () => {
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

  it("keeps whole numbers that a double cannot hold as text [AC-82]", () => {
    expect(valueOf("9223372036854775807")).toBe("9223372036854775807");
    expect(valueOf("9007199254740991")).toBe(9007199254740991);
  });

  it("reads calls with their arguments", () => {
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

  it("passes over objects that only Python can read back", () => {
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

  it("knows a dict that JSON could have held", () => {
    expect(readPythonDict("{'a': 1, 'b': [None, True, 'x']}")).toMatchObject({
      hasForeignValues: false,
    });
  });

  it("treats __proto__ as a key like any other [AC-42]", () => {
    const read = readPythonDict("{'__proto__': {'polluted': True}}");
    expect(read.ok && read.dict.get("__proto__")).toEqual(new Map([["polluted", true]]));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("stops at the keys that are wanted, and reads no further", () => {
    const text = `{'data': 'x', 'agent': <A object at 0x1>, 'messages': [${"'y', ".repeat(10_000)}`;
    const read = readPythonDict(text, { requestedKeys: new Set(["data", "agent"]) });
    expect(read).toMatchObject({ ok: true, hasForeignValues: true });
    expect(read.steps).toBeLessThan(200);
  });

  it("refuses what is cut, and says why [AC-76]", () => {
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
      "Text follows behind its end",
      "A bracket at character 8 closes nothing",
      "A string holds a broken escape at character 8",
      "A bytes literal holds a character that is no byte",
      "It is no dict",
      "It is no dict",
    ]);
  });

  it("reads 64 levels and refuses 65 [AC-77]", () => {
    const nested = (levels: number): string =>
      `{'a': ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(readPythonDict(nested(64)).ok).toBe(true);
    expect(reasonOf(nested(65))).toBe("It is nested deeper than 64 levels");
    expect(reasonOf(`{'a': ${"f(".repeat(100_000)}`)).toBe("It is nested deeper than 64 levels");
  });

  it("refuses text beyond its limit without reading it [AC-77]", () => {
    const read = readPythonDict(`{'a': '${"x".repeat(1000)}'}`, { maxCharacters: 100 });
    expect(read).toEqual({ ok: false, reason: "It is longer than 100 characters", steps: 1 });
  });

  it("does linear work on quotes and brackets that never match [AC-77]", () => {
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

  it("never throws, and its work stays linear, on random text [AC-77]", () => {
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
