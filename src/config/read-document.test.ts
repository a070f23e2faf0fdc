import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readDocument } from "./read-document.ts";

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-document-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "a.yaml");
  writeFileSync(file, text);
  return file;
}

describe("A YAML or JSON document", () => {
  it.each([
    ["a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", 'the key "c" is duplicated at line 5'],
    ['{"a": 1,\n "a": 2}', 'the key "a" is duplicated at line 2'],
    ["1: a\n'1': b\n", 'the key "1" is duplicated at line 2'],
  ])("A duplicate key is refused with its line: %j", async (text, reason) => {
    await expect(readDocument(fileWith(text))).rejects.toThrow(reason);
  });

  it.each([
    [
      "? &k default\n: deny\n? *k\n: allow\n",
      "it has a key that is not a plain word at line 3. Fix: write the key out",
    ],
    [
      "a: &k b\nc:\n  *k : 1\n  b: 2\n",
      "it has a key that is not a plain word at line 3. Fix: write the key out",
    ],
    ["? [a]\n: 1\n", "it has a key that is not a plain word at line 1. Fix: write the key out"],
    [
      "? !!binary YQ==\n: 1\n",
      "it has a key that is not a plain word at line 1. Fix: write the key out",
    ],
    [
      "a: {? : 1, '': 2}\n",
      "it has a key that is not a plain word at line 1. Fix: write the key out",
    ],
  ])("A key that is not a plain scalar is refused: %j", async (text, reason) => {
    await expect(readDocument(fileWith(text))).rejects.toThrow(reason);
  });

  it.each([
    ["a: 1\nb: !!omap\n  - c: 1\n", '"tag:yaml.org,2002:omap"', 3],
    ["a: !!set {b}\n", '"tag:yaml.org,2002:set"', 1],
    ["a: !!pairs [b: 1]\n", '"tag:yaml.org,2002:pairs"', 1],
    ["a: !!binary YWxsb3c=\n", '"tag:yaml.org,2002:binary"', 1],
    ["a: !!timestamp 2020-01-01\n", '"tag:yaml.org,2002:timestamp"', 1],
    ["a: !mine b\n", '"!mine"', 1],
  ])("A tag of another type is refused: %j", async (text, tag, line) => {
    const reason = `it has the tag ${tag} at line ${line}. Fix: remove the tag`;
    await expect(readDocument(fileWith(text))).rejects.toThrow(reason);
  });

  it("Tags of plain types and aliases are accepted", async () => {
    const read = await readDocument(fileWith("a: !!str 1\nb: &x {c: !!int 2}\nd: *x\n"));
    expect(read).toEqual({ a: "1", b: { c: 2 }, d: { c: 2 } });
  });

  it("Keys may repeat in other objects, and __proto__ is data", async () => {
    const read = await readDocument(fileWith("a: {x: 1}\nb: {x: 1}\n__proto__: {c: 1}\n"));
    expect(JSON.stringify(read)).toBe('{"a":{"x":1},"b":{"x":1},"__proto__":{"c":1}}');
  });

  it("A file with the maximum number of keys is parsed, and a larger file is refused", async () => {
    const lines = Array.from({ length: 90_000 }, (_, at) => `k${at}: 1\n`);
    const few = fileWith(lines.slice(0, 25_000).join(""));
    expect(Object.keys(Object(await readDocument(few)))).toHaveLength(25_000);
    const many = readDocument(fileWith(lines.join("")));
    await expect(many).rejects.toThrow("it has more than 262144 bytes");
  });
});
