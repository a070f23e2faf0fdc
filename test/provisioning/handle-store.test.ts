import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openFileHandleStore } from "../../src/provisioning/file-handle-store.ts";
import { createMemoryHandleStore, type HandleStore } from "../../src/provisioning/handle-store.ts";
import { ARN, ID } from "../support/server/scripted-control-plane.ts";
import { catchRejection } from "../support/session/provider-session.ts";

const HANDLE = { arn: ARN, id: ID, name: "demo", endpoint: "DEFAULT" };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "spanline-store-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const stores: readonly (readonly [string, () => Promise<HandleStore>])[] = [
  ["in memory", async () => createMemoryHandleStore()],
  ["in a file", () => openFileHandleStore(join(folder(), "harnesses.json"))],
];

describe.each(stores)("A handle store %s", (_, open) => {
  it("A stored handle can be read and deleted [RMA-P0-12]", async () => {
    const store = await open();
    expect(await store.getHandle("a")).toBeNull();
    await store.putHandle("a", HANDLE);
    await store.putHandle("b", { ...HANDLE, endpoint: "prod" });
    expect(await store.getHandle("a")).toEqual(HANDLE);
    expect(await store.getHandle("b")).toEqual({ ...HANDLE, endpoint: "prod" });
    await store.deleteHandle("a");
    await store.deleteHandle("a");
    expect(await store.getHandle("a")).toBeNull();
    expect(await store.getHandle("constructor")).toBeNull();
  });

  it("A tag can be moved", async () => {
    const store = await open();
    await store.putTag("demo:live", "00000001");
    await store.putTag("demo:live", "00000002");
    await store.putTag("demo:old", "00000001");
    await store.putTag("demos:live", "00000003");
    expect(await store.getTag("demo:live")).toBe("00000002");
    expect([...(await store.listTags("demo:"))]).toEqual([
      ["demo:live", "00000002"],
      ["demo:old", "00000001"],
    ]);
    await store.deleteTag("demo:live");
    expect(await store.getTag("demo:live")).toBeNull();
    expect(await store.getTag("__proto__")).toBeNull();
  });

  it("Concurrent writes are not lost", async () => {
    const store = await open();
    const keys = Array.from({ length: 20 }, (_, at) => `key ${at}`);
    await Promise.all(keys.map((key) => store.putHandle(key, { ...HANDLE, name: key })));
    const names = await Promise.all(keys.map(async (key) => (await store.getHandle(key))?.name));
    expect(names).toEqual(keys);
  });
});

describe("A handle store in a file", () => {
  it("The next process reads the same handle [RMA-P0-12]", async () => {
    const path = join(folder(), "harnesses.json");
    await (await openFileHandleStore(path)).putHandle("a", HANDLE);
    const again = await openFileHandleStore(path);
    expect(await again.getHandle("a")).toEqual(HANDLE);
  });

  it("The folder is created with access for the owner only [RMA-P2-3]", async () => {
    const path = join(folder(), "new/deeper/harnesses.json");
    const store = await openFileHandleStore(path);
    await store.putHandle("a", HANDLE);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
  });

  it("A store that cannot be written is refused when it is opened [RMA-P2-3]", async () => {
    const place = folder();
    writeFileSync(join(place, "file"), "");
    expect(
      await catchRejection(openFileHandleStore(join(place, "file/harnesses.json"))),
    ).toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("cannot be used: its folder cannot be written to"),
    });
    // A path where the system does not allow folders.
    expect(await catchRejection(openFileHandleStore("/proc/x/harnesses.json"))).toMatchObject({
      code: "invalid_option",
    });
    mkdirSync(join(place, "folder.json"));
    expect(await catchRejection(openFileHandleStore(join(place, "folder.json")))).toMatchObject({
      code: "invalid_option",
    });
  });

  // Root can write to every folder, so the test would not fail for root.
  it.skipIf(process.getuid?.() === 0)(
    "A folder without write permission is refused [RMA-P2-3]",
    async () => {
      const place = join(folder(), "theirs");
      mkdirSync(place);
      chmodSync(place, 0o500);
      expect(
        await catchRejection(openFileHandleStore(join(place, "harnesses.json"))),
      ).toMatchObject({
        code: "invalid_option",
      });
    },
  );

  it.each(["{", "[]", '{"handles":[]}', ""])(
    "A file with the content %j is renamed and kept",
    async (text) => {
      const place = folder();
      const path = join(place, "harnesses.json");
      writeFileSync(path, text);
      const warnings: string[] = [];
      const store = await openFileHandleStore(path, (message) => warnings.push(message));
      expect(warnings).toEqual([expect.stringContaining("it was renamed to")]);
      await store.putHandle("a", HANDLE);
      const aside = readdirSync(place).find((name) => name.includes("unreadable"));
      expect(readFileSync(join(place, aside ?? ""), "utf8")).toBe(text);
    },
  );

  it("Unknown entries are kept, and invalid handles are ignored", async () => {
    const path = join(folder(), "harnesses.json");
    const handles = {
      "half a handle": { arn: ARN },
      "an empty endpoint": { ...HANDLE, endpoint: "" },
      "a newer one": { ...HANDLE, since: "2027" },
    };
    writeFileSync(path, JSON.stringify({ version: 1, handles, tags: { odd: 5 }, more: [1] }));
    const store = await openFileHandleStore(path);
    expect(await store.getHandle("half a handle")).toBeNull();
    expect(await store.getHandle("an empty endpoint")).toBeNull();
    expect(await store.getHandle("a newer one")).toEqual(HANDLE);
    expect(await store.getTag("odd")).toBeNull();
    await store.putTag("demo:live", "00000001");
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      version: 1,
      handles,
      tags: { odd: 5, "demo:live": "00000001" },
      more: [1],
    });
  });

  it("A file of a newer version is refused and left unchanged", async () => {
    const path = join(folder(), "harnesses.json");
    const text = JSON.stringify({ version: 2, handles: {}, tags: {} });
    writeFileSync(path, text);
    expect(await catchRejection(openFileHandleStore(path))).toMatchObject({
      message: expect.stringContaining("a newer version of Spanline wrote it"),
    });
    expect(readFileSync(path, "utf8")).toBe(text);
  });
});
