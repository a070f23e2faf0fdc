import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SpanlineError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/data/json.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import {
  createTestWorkspace,
  type TestWorkspace,
  type RunOptions,
} from "../support/session/test-workspace.ts";
import { waitUntil } from "../support/with-deadline.ts";

const BOTH = { clientId: "ide", readsFiles: true, writesFiles: true, runsTerminals: false };

interface Buffers extends Required<Pick<RunOptions, "editor" | "host">> {
  readonly texts: Map<string, string>;
  /** Requests to the editor, by kind and path. */
  readonly hostRequests: readonly (readonly [string, string])[];
}

/** An editor which stores writes in its buffers and saves nothing to disk. */
function editorWith(
  texts: Readonly<Record<string, string>>,
  answer: (kind: string, payload: JsonObject) => Promise<JsonObject> | undefined = () => undefined,
): Buffers {
  const fileTexts = new Map(Object.entries(texts));
  const hostRequests: [string, string][] = [];
  const host: ToolContext["host"] = async (_, kind, payload) => {
    const path = textIn(payload, "path");
    hostRequests.push([kind, path]);
    const hostReply = answer(kind, payload);
    if (hostReply !== undefined) return hostReply;
    if (kind === "write-file") {
      fileTexts.set(path, textIn(payload, "content"));
      return { written: true };
    }
    const text = fileTexts.get(path);
    return text === undefined ? {} : { text };
  };
  return { editor: BOTH, host, texts: fileTexts, hostRequests };
}

function textIn(payload: JsonObject, name: string): string {
  const value = payload[name];
  return typeof value === "string" ? value : "";
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function openIn({ root }: TestWorkspace, path: string, text: string): Buffers {
  return editorWith({ [join(root, path)]: text });
}

describe("Files that are open in an editor", () => {
  it("A file is read from the editor with its unsaved changes", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved\n");
    const editor = openIn(world, "a.txt", "unsaved\nlines\n");
    const { text } = await world.run("read_file", { path: "a.txt", from_line: 2 }, editor);
    expect(text).toBe(`a.txt, line 2 of 2, sha256 ${sha256("unsaved\nlines\n")}\n2\tlines`);
  });

  it("A file in the editor may not exist on disk yet", async () => {
    const world = createTestWorkspace();
    const editor = openIn(world, "new.txt", "draft");
    expect((await world.run("read_file", { path: "new.txt" }, editor)).text).toContain("1\tdraft");
    await expect(world.run("read_file", { path: "none.txt" }, editor)).rejects.toThrow(
      "File not found: none.txt",
    );
  });

  it("A file is changed in the editor, starting from the editor's text", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved\n");
    const editor = openIn(world, "a.txt", "typed\n");
    const edit = { path: "a.txt", old_text: "typed", new_text: "edited" };
    const { text, diffs } = await world.run("edit_file", edit, editor);
    expect(text).toContain(`Changed a.txt at line 1: 7 bytes, sha256 ${sha256("edited\n")}`);
    expect(diffs).toEqual([{ path: "a.txt", oldText: "typed\n", newText: "edited\n" }]);
    expect([...editor.texts.values()]).toEqual(["edited\n"]);
    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("saved\n");
  });

  it("A file is overwritten only if the editor's text equals the text that was read", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const editor = openIn(world, "a.txt", "typed");
    const write = { path: "a.txt", content: "new" };
    await expect(
      world.run("write_file", { ...write, expected_sha256: sha256("saved") }, editor),
    ).rejects.toThrow("a.txt has changed since it was read");
    expect(editor.hostRequests.map(([kind]) => kind)).toEqual(["read-file"]);
    await world.run("write_file", { ...write, expected_sha256: sha256("typed") }, editor);
    expect([...editor.texts.values()]).toEqual(["new"]);
  });

  it("A file is written even if only the editor's unsaved text already equals the content", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const editor = openIn(world, "a.txt", "new");
    await world.run("write_file", { path: "a.txt", content: "new" }, editor);
    expect(editor.hostRequests.map(([kind]) => kind)).toEqual(["read-file", "write-file"]);
  });

  it("A new file's folder is created for the editor", async () => {
    const world = createTestWorkspace();
    const editor = editorWith({});
    await world.run("write_file", { path: "deep/er/a.txt", content: "new" }, editor);
    expect(editor.texts).toEqual(new Map([[join(world.root, "deep/er/a.txt"), "new"]]));
  });

  it("The preview of a change shows the editor's text [ACP-87]", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const { editor, host } = openIn(world, "a.txt", "typed");
    const input = { path: "a.txt", content: "new" };
    const paths = [{ argument: "path", input: "a.txt" }];
    const { signal } = new AbortController();
    const call = { name: "write_file", input, paths, signal, editor, host };
    const examined = await world.tools.get("write_file")?.examine?.(call);
    expect(examined?.diffs).toEqual([{ path: "a.txt", oldText: "typed", newText: "new" }]);
  });
});

describe("Fallback to the disk", () => {
  it("A file that the editor does not know is read from disk", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const { text } = await world.run("read_file", { path: "a.txt" }, editorWith({}));
    expect(text).toContain("1\tsaved");
  });

  it("A file is written to disk if the editor says that it cannot write", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const editor = editorWith({}, () => Promise.resolve({}));
    await world.run("write_file", { path: "a.txt", content: "new" }, editor);
    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("new");
  });

  it("With an editor that only reads, files are changed on disk", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const { host, hostRequests } = openIn(world, "a.txt", "typed");
    const editor = { ...BOTH, writesFiles: false };
    const edit = { path: "a.txt", old_text: "saved", new_text: "edited" };
    await world.run("edit_file", edit, { editor, host });
    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("edited");
    expect(hostRequests).toEqual([]);
  });

  it("Binary files, and files too large for the connection, are read and written on disk", async () => {
    const world = createTestWorkspace();
    world.write("b.bin", new Uint8Array([0, 1, 2, 3]));
    world.write("long.txt", "x".repeat(1024 * 1024 + 1));
    const editor = editorWith({});
    for (const path of ["b.bin", "long.txt"]) await world.run("read_file", { path }, editor);
    await world.run("write_file", { path: "n", content: "y".repeat(1024 * 1024 + 1) }, editor);
    expect(editor.hostRequests).toEqual([["read-file", join(world.root, "n")]]);
    expect(readFileSync(join(world.root, "n"), "utf8")).toHaveLength(1024 * 1024 + 1);
  });
});

describe("Editors that fail", () => {
  const no = new SpanlineError("host_failed", "The buffer is locked");

  it("An error of the editor is quoted, and the disk is neither read nor written instead", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const editor = editorWith({}, () => Promise.reject(no));
    await expect(world.run("read_file", { path: "a.txt" }, editor)).rejects.toThrow(
      "The editor did not return a.txt: The buffer is locked",
    );
    const writing = editorWith({}, (kind) =>
      kind === "write-file" ? Promise.reject(no) : undefined,
    );
    await expect(
      world.run("write_file", { path: "a.txt", content: "new" }, writing),
    ).rejects.toThrow("The editor did not write a.txt: The buffer is locked");
    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("saved");
  });

  it("A file that neither the editor nor the disk has is missing, whatever error the editor returns", async () => {
    const world = createTestWorkspace();
    const editor = editorWith({}, (kind) =>
      kind === "read-file" ? Promise.reject(new SpanlineError("host_failed", "ENOENT")) : undefined,
    );
    await expect(world.run("read_file", { path: "none.txt" }, editor)).rejects.toThrow(
      "File not found: none.txt",
    );
    const { text } = await world.run("write_file", { path: "new.txt", content: "new" }, editor);
    expect(text).toContain("Made new.txt");
    expect([...editor.texts.values()]).toEqual(["new"]);
  });

  it("If the editor disconnects during a write, the result is reported as unknown", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const gone = new SpanlineError("aborted", "The client is gone");
    const editor = editorWith({}, (kind) =>
      kind === "write-file" ? Promise.reject(gone) : undefined,
    );
    await expect(
      world.run("write_file", { path: "a.txt", content: "new" }, editor),
    ).rejects.toThrow("Whether the editor wrote a.txt is unknown (The client is gone)");
    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("saved");
  });
});

describe("Requests that never reach the editor", () => {
  it.each(["../outside/secret.txt", ".spanline/log.db", "out", "way/secret.txt", "a\\b", "sub"])(
    "The editor is not asked for the path %s [W-04]",
    async (path) => {
      const world = createTestWorkspace();
      symlinkSync(join(world.outside, "secret.txt"), join(world.root, "out"));
      symlinkSync(world.outside, join(world.root, "way"));
      mkdirSync(join(world.root, "sub"));
      const editor = editorWith({});
      const calls: [string, JsonObject][] = [
        ["read_file", { path }],
        ["write_file", { path, content: "x" }],
        ["edit_file", { path, old_text: "a", new_text: "b" }],
      ];
      for (const [name, input] of calls) {
        await expect(world.run(name, input, editor)).rejects.toThrow(/cannot be used|is a folder/);
      }
      expect(editor.hostRequests).toEqual([]);
    },
  );

  it("The editor is not asked for a path that changed since it was evaluated [W-04]", async () => {
    const world = createTestWorkspace();
    const hostPath = world.write("a.txt", "saved");
    const fact = { argument: "path", input: "a.txt", place: "inside", workspacePath: "a.txt" };
    const paths = [{ ...fact, location: "inside", hostPath: `${hostPath}2` } as const];
    const editor = editorWith({});
    await expect(
      world.run("write_file", { path: "a.txt", content: "x" }, { ...editor, paths }),
    ).rejects.toThrow("no longer leads to the location");
    expect(editor.hostRequests).toEqual([]);
  });

  it("The editor's text is discarded if a link appeared in the path meanwhile [W-04]", async () => {
    const world = createTestWorkspace();
    world.write("sub/a.txt", "saved");
    const swap = editorWith({}, async () => {
      renameSync(join(world.root, "sub"), join(world.root, "gone"));
      symlinkSync(world.outside, join(world.root, "sub"));
      return { text: "secret outside" };
    });
    await expect(world.run("read_file", { path: "sub/a.txt" }, swap)).rejects.toThrow(
      "was moved or replaced",
    );
    rmSync(join(world.root, "sub"));
    world.write("b.txt", "saved");
    const link = editorWith({}, async () => {
      rmSync(join(world.root, "b.txt"));
      symlinkSync(join(world.outside, "secret.txt"), join(world.root, "b.txt"));
      return { text: "secret outside" };
    });
    await expect(world.run("read_file", { path: "b.txt" }, link)).rejects.toThrow("a link");
  });

  it("While a command runs, the disk is read instead of the editor, and the result says so [W-04]", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const editor = openIn(world, "a.txt", "typed");
    const stop = join(world.root, "stop");
    let begun = (): void => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const wait = "while [ ! -e stop ]; do sleep 0.02; done";
    const command = world.run("run_command", { command: wait }, { spawned: begun });
    await running;
    const { text } = await world.run("read_file", { path: "a.txt" }, editor);
    expect(text).toMatch(/1\tsaved\n\[a command is running, so this is the file on the disk/);
    await world.run("write_file", { path: "a.txt", content: "new" }, editor);
    expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("new");
    expect(editor.hostRequests).toEqual([]);
    writeFileSync(stop, "");
    await command;
    expect((await world.run("read_file", { path: "a.txt" }, editor)).text).toContain("1\ttyped");
  });

  it("No command starts while the editor reads or writes a file [W-04]", async () => {
    const world = createTestWorkspace();
    world.write("a.txt", "saved");
    const order: string[] = [];
    let answer: (given: JsonObject) => void = () => {};
    const editor = editorWith({}, () => {
      order.push("asked");
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const reading = world.run("read_file", { path: "a.txt" }, editor);
    await waitUntil(() => order.length > 0);
    const command = world.run(
      "run_command",
      { argv: ["true"] },
      { spawned: () => void order.push("started") },
    );
    // These calls take at least as long as the start of a command.
    await world.run("list_files", {});
    await world.run("search", { pattern: "saved" });
    order.push("answered");
    answer({ text: "typed" });
    await Promise.all([reading, command]);
    expect(order).toEqual(["asked", "answered", "started"]);
  });
});
