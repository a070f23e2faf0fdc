import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

const sha256 = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

describe("read_file", () => {
  it("A file is read as numbered lines with the digest of the whole file", async () => {
    const { run, write } = createTestWorkspace();
    const content = "one\ntwo\n\nfour";
    write("src/a.txt", content);
    expect(await run("read_file", { path: "src/a.txt" })).toEqual({
      text: `src/a.txt, lines 1 to 4 of 4, sha256 ${sha256(content)}\n1\tone\n2\ttwo\n3\t\n4\tfour`,
      data: {
        path: "src/a.txt",
        shown: { from: 1, count: 4, cut: 0 },
        total: 4,
        sha256: sha256(content),
      },
      locations: [{ path: "src/a.txt", line: 1 }],
    });
  });

  it("A part of a file is read with a note about the omitted lines and how to continue", async () => {
    const { run, write } = createTestWorkspace();
    const content = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join("");
    write("a", content);
    const { text } = await run("read_file", { path: "a", from_line: 3, max_lines: 2 });
    expect(text).toBe(
      `a, lines 3 to 4 of 10, sha256 ${sha256(content)}\n3\tline 3\n4\tline 4\n` +
        "[lines 5 to 10 are not shown; continue with from_line 5]",
    );
    const beyond = await run("read_file", { path: "a", from_line: 11 });
    expect(beyond.text).toBe(`a, no lines of 10, sha256 ${sha256(content)}`);
    write("empty", "");
    expect((await run("read_file", { path: "empty" })).text).toContain("no lines of 0");
  });

  it("The number of lines and characters is limited", async () => {
    const { run, write } = createTestWorkspace({ limits: { readLines: 3, readCharacters: 12 } });
    write("a", "1234\n".repeat(9));
    const readShownLines = async (input: { readonly max_lines?: number }) =>
      (await run("read_file", { path: "a", ...input })).data?.["shown"];
    expect(await readShownLines({ max_lines: 100 })).toEqual({ from: 1, count: 3, cut: 1 });
    expect(await readShownLines({ max_lines: 2 })).toEqual({ from: 1, count: 2, cut: 0 });
  });

  it("Long lines, even of 10 MB, are cut at whole characters", async () => {
    const { run, write } = createTestWorkspace({ limits: { lineCharacters: 5 } });
    const long = "\u{1f600}".repeat(2_500_000);
    write("long", `${long}\nshort\n`);
    expect((await run("read_file", { path: "long" })).text).toMatch(
      /\n1\t\u{1f600}\u{1f600}… \[9999992 more bytes in this line\]\n2\tshort$/u,
    );
  });

  it("A file is scanned only up to its limit", async () => {
    const { run, write } = createTestWorkspace({ limits: { scanBytes: 10 } });
    write("a", "1\n2\n3\n4\n5\n6\n7\n");
    const { text, data } = await run("read_file", { path: "a", max_lines: 1 });
    expect(text).toContain("line 1 of at least 5\n1\t1\n");
    expect(text).toContain("[only the first 10 bytes were read]");
    expect(data).not.toHaveProperty("sha256");
  });

  it("A binary file is described and not shown", async () => {
    const { run, write } = createTestWorkspace();
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    write("a.png", png);
    write("b.bin", new Uint8Array([1, 0, 2]));
    expect((await run("read_file", { path: "a.png" })).text).toBe(
      `a.png is a PNG image of 8 bytes, sha256 ${sha256(png)}. Its content is not shown.`,
    );
    expect((await run("read_file", { path: "b.bin" })).data).toMatchObject({
      binary: "binary data",
      bytes: 3,
    });
  });

  it("The result notes \\r\\n line ends and bytes that are not UTF-8", async () => {
    const { run, write } = createTestWorkspace();
    write("a", Buffer.from("one\r\ncaf\xe9\r\n", "latin1"));
    const { text } = await run("read_file", { path: "a" });
    expect(text).toContain("1\tone\n2\tcaf\ufffd\n");
    expect(text).toContain("[lines end with \\r\\n]");
    expect(text).toContain("[some bytes are not UTF-8 and shown as \ufffd]");
  });

  it("A link inside the workspace is followed, and its target is named [W-04]", async () => {
    const { run, write, root } = createTestWorkspace();
    write("real.txt", "text");
    symlinkSync("real.txt", join(root, "link.txt"));
    expect((await run("read_file", { path: "link.txt" })).locations).toEqual([
      { path: "real.txt", line: 1 },
    ]);
  });

  it("Outside, protected and invalid paths are refused [W-04]", async () => {
    const { run, root, outside, data } = createTestWorkspace();
    symlinkSync(outside, join(root, "link"));
    linkSync(join(data, "log.db"), join(root, "hard"));
    const refused = (path: string, reason: string) =>
      expect(run("read_file", { path })).rejects.toMatchObject({
        code: "workspace_refused",
        details: { reason },
      });
    await refused("../outside/secret.txt", "outside");
    await refused("link/secret.txt", "outside");
    await refused("/etc/passwd", "outside");
    await refused("/proc/self/environ", "outside");
    await refused("/dev/zero", "outside");
    await refused(".spanline/log.db", "protected");
    await refused("hard", "protected");
    await refused("", "invalid");
    await refused("a\0", "invalid");
    await refused("gone", "missing");
    await refused("gone/deeper", "missing");
    await refused(".", "not_a_file");
  });

  it("Pipes, sockets, devices and folders are refused without opening them", async () => {
    const { run, root } = createTestWorkspace();
    const server = createServer().listen(join(root, "socket"));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    mkdirSync(join(root, "folder"));
    spawnSync("mkfifo", [join(root, "pipe")]);
    const kinds = { pipe: "a pipe", socket: "a socket", folder: "a folder" };
    for (const [path, kind] of Object.entries(kinds)) {
      await expect(run("read_file", { path })).rejects.toThrow(
        `${path} is ${kind}: expected a file`,
      );
      await expect(run("write_file", { path, content: "" })).rejects.toThrow(kind);
      await expect(run("edit_file", { path, old_text: "a", new_text: "b" })).rejects.toThrow(kind);
    }
  });

  it("A device inside the workspace is not read", async (test) => {
    const { run, root } = createTestWorkspace();
    const made = spawnSync("mknod", [join(root, "zero"), "c", "1", "5"]);
    test.skip(made.status !== 0, "making a device takes rights that are not there");
    await expect(run("read_file", { path: "zero" })).rejects.toThrow("zero is a device");
  });

  it.skipIf(process.platform !== "linux")(
    "A file is read to its end even if the system reports a wrong size",
    async () => {
      const { run } = createTestWorkspace({ root: "/proc/self" });
      const { text } = await run("read_file", { path: "status", max_lines: 1 });
      expect(text).toMatch(/^\d*\/?status, line 1 of \d+.*\n1\tName:/);
    },
  );

  it("read_file ends when its signal aborts", async () => {
    const { run, write } = createTestWorkspace();
    write("a", "text");
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(run("read_file", { path: "a" }, { signal })).rejects.toThrow("enough");
  });

  it("Unknown arguments are refused", async () => {
    const { tools } = createTestWorkspace();
    const tool = tools.get("read_file");
    expect(tool?.check({ path: "a", encoding: "x" })).toContain("additional properties");
    expect(tool?.check({ path: "a", from_line: 0 })).toBe("from_line must be >= 1");
    expect(tool?.check({})).toContain("path");
  });
});

describe("Files whose path was evaluated", () => {
  const judged = (root: string, input: string, hostPath: string) =>
    [
      {
        argument: "path",
        input,
        location: "inside",
        workspacePath: hostPath,
        hostPath: join(root, hostPath),
      },
    ] as const;

  it("The file that was evaluated is read", async () => {
    const { run, root, write } = createTestWorkspace();
    write("a", "text");
    const output = await run("read_file", { path: "a" }, { paths: judged(root, "a", "a") });
    expect(output.text).toContain("text");
  });

  it("A path that leads to another file since its evaluation is refused [W-04]", async () => {
    const { run, root, write } = createTestWorkspace();
    write("b", "text");
    symlinkSync("b", join(root, "a"));
    const refused = (paths: ReturnType<typeof judged> | readonly []) =>
      expect(run("read_file", { path: "a" }, { paths })).rejects.toMatchObject({
        details: { reason: "moved" },
      });
    await refused(judged(root, "a", "a"));
    await refused(judged(root, "other", "b"));
    await refused([]);
    expect(
      (await run("read_file", { path: "a" }, { paths: judged(root, "a", "b") })).text,
    ).toContain("text");
  });

  it("A path that leads outside since its evaluation is refused", async () => {
    const { run, root, outside } = createTestWorkspace();
    symlinkSync(join(outside, "secret.txt"), join(root, "a"));
    writeFileSync(join(root, "b"), "");
    await expect(
      run("read_file", { path: "a" }, { paths: judged(root, "a", "a") }),
    ).rejects.toMatchObject({ details: { reason: "outside" } });
  });
});
