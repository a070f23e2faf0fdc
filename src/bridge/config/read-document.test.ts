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

describe("a document", () => {
  it.each([
    ["a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", 'the key "c" is there twice, again at line 5'],
    ['{"a": 1,\n "a": 2}', 'the key "a" is there twice, again at line 2'],
    ["1: a\n'1': b\n", 'the key "1" is there twice, again at line 2'],
  ])("with a key that is there twice is refused with its line: %j", async (text, reason) => {
    await expect(readDocument(fileWith(text))).rejects.toThrow(reason);
  });

  it("may have a key again in another object, and keys as odd as __proto__", async () => {
    const read = await readDocument(fileWith("a: {x: 1}\nb: {x: 1}\n__proto__: {c: 1}\n"));
    expect(JSON.stringify(read)).toBe('{"a":{"x":1},"b":{"x":1},"__proto__":{"c":1}}');
  });

  it("with as many keys as a file may have is read, and a larger file is refused", async () => {
    const lines = Array.from({ length: 90_000 }, (_, at) => `k${at}: 1\n`);
    const few = fileWith(lines.slice(0, 25_000).join(""));
    expect(Object.keys(Object(await readDocument(few)))).toHaveLength(25_000);
    const many = readDocument(fileWith(lines.join("")));
    await expect(many).rejects.toThrow("it has more than 262144 bytes");
  });
});
