import { describe, expect, it } from "vitest";
import { linesOf } from "../../../../test/fixtures/strands/fixtures.ts";
import { PythonRepr, formatPythonJson, formatPythonRepr } from "./python-text.ts";

describe("Python output", () => {
  it.each(["py-quotes.sse", "py-japanese.sse"])(
    "Strings are quoted and escaped as recorded in %s",
    (file) => {
      const lines = linesOf(file);
      const deltas = lines.flatMap((line, at) => {
        if (!line.startsWith('{"event": {"contentBlockDelta"')) return [];
        const { event } = JSON.parse(line) as {
          event: { contentBlockDelta: { delta: { text: string } } };
        };
        return [
          { text: event.contentBlockDelta.delta.text, repr: JSON.parse(lines[at + 1] ?? "") },
        ];
      });
      expect(deltas.length).toBeGreaterThan(2);
      for (const { text, repr } of deltas) {
        expect(repr).toContain(`{'data': ${formatPythonRepr(text)}, 'delta': `);
      }
    },
  );

  it("Values without a JSON form are printed like in Python", () => {
    const value = {
      a: null,
      b: [true, 1.5],
      c: new Uint8Array([0, 39, 255]),
      d: new PythonRepr("<x>"),
    };
    expect(formatPythonRepr(value)).toBe(
      `{'a': None, 'b': [True, 1.5], 'c': b"\\x00'\\xff", 'd': <x>}`,
    );
  });

  it("JSON is written with spaces, in ASCII or UTF-8", () => {
    expect(formatPythonJson({ a: ["é", 1], b: "😀" }, true)).toBe(
      '{"a": ["\\u00e9", 1], "b": "\\ud83d\\ude00"}',
    );
    expect(formatPythonJson({ a: ["é", 1], b: "😀" }, false)).toBe('{"a": ["é", 1], "b": "😀"}');
  });
});
