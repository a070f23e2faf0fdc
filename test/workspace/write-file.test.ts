import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");

describe("write_file", () => {
  it("A file and its parent folders are created, and the output has diff and undo data", async () => {
    const { run, root } = createTestWorkspace();
    expect(await run("write_file", { path: "new/deep/a.txt", content: "text" })).toEqual({
      text: `Made new/deep/a.txt: 4 bytes, sha256 ${sha256("text")}`,
      data: { path: "new/deep/a.txt", bytes: 4, sha256: sha256("text"), existed: false },
      locations: [{ path: "new/deep/a.txt" }],
      diffs: [{ path: "new/deep/a.txt", oldText: null, newText: "text" }],
      undo: [
        {
          path: "new/deep/a.txt",
          existed: false,
          sha256Before: null,
          sha256After: sha256("text"),
          bytesBefore: 0,
          bytesAfter: 4,
        },
      ],
    });
    expect(readFileSync(join(root, "new/deep/a.txt"), "utf8")).toBe("text");
  });

  it("A file is replaced atomically, keeps its permissions, and leaves no other files", async () => {
    const { run, root, write } = createTestWorkspace();
    const file = write("a.sh", "old");
    chmodSync(file, 0o751);
    const { ino } = statSync(file);
    const output = await run("write_file", { path: "a.sh", content: "new" });
    expect(output.text).toBe(`Replaced a.sh: 3 bytes, sha256 ${sha256("new")}`);
    expect(output.diffs).toEqual([{ path: "a.sh", oldText: "old", newText: "new" }]);
    expect(output.undo).toMatchObject([{ existed: true, sha256Before: sha256("old") }]);
    expect(statSync(file).mode & 0o7777).toBe(0o751);
    // The replacement is a new file, so a process which has the old file open still reads the old content.
    expect(statSync(file).ino).not.toBe(ino);
    expect(readdirSync(root).sort()).toEqual([".spanline", "a.sh"]);
  });

  it.skipIf(process.getuid?.() !== 0)("The owner of a file is kept where possible", async () => {
    const { run, write } = createTestWorkspace();
    const file = write("a", "old");
    const { chownSync } = await import("node:fs");
    chownSync(file, 12345, 23456);
    chmodSync(file, 0o6755);
    await run("write_file", { path: "a", content: "new" });
    const { uid, gid, mode } = statSync(file);
    expect([uid, gid, mode & 0o7777]).toEqual([12345, 23456, 0o6755]);
  });

  it("A file is overwritten only if its digest equals expected_sha256", async () => {
    const { run, root, write } = createTestWorkspace();
    write("a", "one");
    const expected = sha256("one").toUpperCase();
    await run("write_file", { path: "a", content: "two", expected_sha256: expected });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("two");
    await expect(
      run("write_file", { path: "a", content: "three", expected_sha256: expected }),
    ).rejects.toMatchObject({
      details: { reason: "changed" },
      message: `a has changed since it was read: it has sha256 ${sha256("two")} now; read it again`,
    });
    await expect(
      run("write_file", { path: "gone/b", content: "x", expected_sha256: expected }),
    ).rejects.toMatchObject({ details: { reason: "missing" } });
    expect(existsSync(join(root, "gone"))).toBe(false);
    expect(readFileSync(join(root, "a"), "utf8")).toBe("two");
  });

  it("A repeated write changes nothing, so a call repeated after a crash finds its work done", async () => {
    const { run, write } = createTestWorkspace();
    const file = write("a", "one");
    const call = { path: "a", content: "two", expected_sha256: sha256("one") };
    await run("write_file", call);
    const { ino, mtimeNs } = statSync(file, { bigint: true });
    expect((await run("write_file", call)).text).toContain("Nothing to change in a");
    expect(statSync(file, { bigint: true })).toMatchObject({ ino, mtimeNs });
  });

  it("A write follows a link to its target and does not change other hard links", async () => {
    const { run, root, outside, write } = createTestWorkspace();
    write("real", "old");
    symlinkSync("real", join(root, "link"));
    linkSync(join(root, "real"), join(outside, "shared"));
    await run("write_file", { path: "link", content: "new" });
    expect(readFileSync(join(root, "real"), "utf8")).toBe("new");
    expect(readFileSync(join(outside, "shared"), "utf8")).toBe("old");
  });

  it("Outside and protected paths are refused, and nothing is written there [W-04]", async () => {
    const { run, root, outside, data } = createTestWorkspace();
    mkdirSync(join(root, "src"));
    symlinkSync(outside, join(root, "link"));
    symlinkSync(join(outside, "made"), join(root, "nowhere"));
    linkSync(join(data, "log.db"), join(root, "hard"));
    const refused = (path: string, reason: string) =>
      expect(run("write_file", { path, content: "x" })).rejects.toMatchObject({
        details: { reason },
      });
    await refused("src/../../outside/made", "outside");
    await refused("link/made", "outside");
    await refused("link/deeper/made", "outside");
    await refused("nowhere", "invalid");
    await refused(".spanline/made", "protected");
    await refused("hard", "protected");
    await refused("src", "not_a_file");
    await refused(".", "not_a_file");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(readdirSync(data)).toEqual(["log.db"]);
    expect(readFileSync(join(data, "log.db"), "utf8")).toBe("secret log");
  });

  it("File size is limited before and after, and large diffs are omitted", async () => {
    const { run, write } = createTestWorkspace({ limits: { fileBytes: 10, diffBytes: 5 } });
    const refused = (path: string, content: string) =>
      expect(run("write_file", { path, content })).rejects.toMatchObject({
        details: { reason: "too_large" },
      });
    await refused("a", "x".repeat(11));
    write("big", "x".repeat(11));
    await refused("big", "x");
    expect(await run("write_file", { path: "b", content: "123456" })).toMatchObject({
      diffs: [],
      undo: [{ bytesAfter: 6 }],
    });
  });

  it("A binary file is overwritten without a diff", async () => {
    const { run, write } = createTestWorkspace();
    write("a", new Uint8Array([0xff, 0, 1]));
    const { diffs, undo } = await run("write_file", { path: "a", content: "text" });
    expect(diffs).toEqual([]);
    expect(undo).toMatchObject([{ bytesBefore: 3 }]);
  });

  it("Lone surrogates are refused, because no file can contain them", async () => {
    const { run, root } = createTestWorkspace();
    await expect(run("write_file", { path: "a", content: "\ud800" })).rejects.toMatchObject({
      details: { reason: "not_text" },
    });
    expect(existsSync(join(root, "a"))).toBe(false);
  });

  it.skipIf(process.platform !== "linux")(
    "A system error is reported by its code, without host paths",
    async () => {
      const { run } = createTestWorkspace({ root: "/proc/self" });
      await expect(run("write_file", { path: "new", content: "" })).rejects.toThrow(
        /^new cannot be written \(E[A-Z]+\)$/,
      );
    },
  );
});

describe("edit_file", () => {
  it("A string that occurs once is replaced, and the output names its line", async () => {
    const { run, root, write } = createTestWorkspace();
    write("a.ts", "one\ntwo\nthree\n");
    const output = await run("edit_file", { path: "a.ts", old_text: "two", new_text: "2" });
    const after = "one\n2\nthree\n";
    expect(output).toEqual({
      text: `Changed a.ts at line 2: 12 bytes, sha256 ${sha256(after)}`,
      data: { path: "a.ts", lines: [2], replaced: 1, sha256: sha256(after) },
      locations: [{ path: "a.ts", line: 2 }],
      diffs: [{ path: "a.ts", oldText: "one\ntwo\nthree\n", newText: after }],
      undo: [
        {
          path: "a.ts",
          existed: true,
          sha256Before: sha256("one\ntwo\nthree\n"),
          sha256After: sha256(after),
          bytesBefore: 14,
          bytesAfter: 12,
        },
      ],
    });
    expect(readFileSync(join(root, "a.ts"), "utf8")).toBe(after);
  });

  it("Nothing changes if the string is missing, occurs twice, or is the same", async () => {
    const { run, root, write } = createTestWorkspace();
    const content = "  const a = 1;\nb\nb\n";
    write("a", content);
    const refused = (old_text: string, new_text: string, message: string) =>
      expect(run("edit_file", { path: "a", old_text, new_text })).rejects.toThrow(message);
    await refused("\tconst a = 1;", "x", 'The most similar line is 1: "  const a = 1;"');
    await refused("b", "c", "old_text occurs 2 times, at lines 2, 3;");
    await refused("b", "b", "there is nothing to change");
    await refused("", "b", "old_text is empty");
    await expect(run("edit_file", { path: "gone", old_text: "a", new_text: "b" })).rejects.toThrow(
      "File not found: gone",
    );
    expect(readFileSync(join(root, "a"), "utf8")).toBe(content);
  });

  it("All occurrences are replaced with replace_all", async () => {
    const { run, root, write } = createTestWorkspace();
    write("a", "b\nb b\n");
    const call = { path: "a", old_text: "b", new_text: "cc", replace_all: true };
    expect(await run("edit_file", call)).toMatchObject({
      text: expect.stringContaining("at 3 places"),
      locations: [
        { path: "a", line: 1 },
        { path: "a", line: 2 },
        { path: "a", line: 2 },
      ],
    });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("cc\ncc cc\n");
  });

  it("Line ends, byte order mark and permissions are kept", async () => {
    const { run, write } = createTestWorkspace();
    const file = write("a", "\ufeffone\r\ntwo\r\nthree\r\n");
    chmodSync(file, 0o640);
    await run("edit_file", { path: "a", old_text: "one\ntwo", new_text: "1\n2\n2b" });
    expect(readFileSync(file, "utf8")).toBe("\ufeff1\r\n2\r\n2b\r\nthree\r\n");
    expect(statSync(file).mode & 0o7777).toBe(0o640);
  });

  it("Binary, protected and outside files are refused [W-04]", async () => {
    const { run, root, data, write } = createTestWorkspace();
    write("binary", new Uint8Array([0x61, 0, 0x62]));
    write("latin", Buffer.from("caf\xe9", "latin1"));
    linkSync(join(data, "log.db"), join(root, "hard"));
    const refused = (path: string, reason: string) =>
      expect(run("edit_file", { path, old_text: "a", new_text: "b" })).rejects.toMatchObject({
        details: { reason },
      });
    await refused("binary", "not_text");
    await refused("latin", "not_text");
    await refused("hard", "protected");
    await refused(".spanline/log.db", "protected");
    await refused("../outside/secret.txt", "outside");
    expect(readFileSync(join(data, "log.db"), "utf8")).toBe("secret log");
  });

  it("A line of 10 MB can be edited", async () => {
    const { run, write } = createTestWorkspace();
    const file = write("a", `${"x".repeat(5_000_000)}needle${"x".repeat(5_000_000)}`);
    await run("edit_file", { path: "a", old_text: "needle", new_text: "pin" });
    expect(readFileSync(file, "utf8").slice(4_999_998, 5_000_005)).toBe("xxpinxx");
  });
});
