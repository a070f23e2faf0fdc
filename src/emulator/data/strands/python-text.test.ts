import { describe, expect, it } from "vitest";
import { linesOf } from "../../../../test/fixtures/strands/fixtures.ts";
import { PythonRepr, formatPythonJson, formatPythonRepr } from "./python-text.ts";

describe("Python's printers", () => {
  it.each(["py-quotes.sse", "py-japanese.sse"])("quote and escape as recorded in %s", (file) => {
    const lines = linesOf(file);
    const deltas = lines.flatMap((line, at) => {
      if (!line.startsWith('{"event": {"contentBlockDelta"')) return [];
      const { event } = JSON.parse(line) as {
        event: { contentBlockDelta: { delta: { text: string } } };
      };
      return [{ text: event.contentBlockDelta.delta.text, repr: JSON.parse(lines[at + 1] ?? "") }];
    });
    expect(deltas.length).toBeGreaterThan(2);
    for (const { text, repr } of deltas) {
      expect(repr).toContain(`{'data': ${formatPythonRepr(text)}, 'delta': `);
    }
  });

  it("print what JSON does not have", () => {
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

  it("write JSON with spaces, in ASCII or not", () => {
    expect(formatPythonJson({ a: ["é", 1], b: "😀" }, true)).toBe(
      '{"a": ["\\u00e9", 1], "b": "\\ud83d\\ude00"}',
    );
    expect(formatPythonJson({ a: ["é", 1], b: "😀" }, false)).toBe('{"a": ["é", 1], "b": "😀"}');
  });
});
