import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSigningKeys, readSigningKeys, rotateSigningKey } from "./signing-keys.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "spanline-keys-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("the signing keys", () => {
  it("sign so that only who has the key can have done it, and nothing in it was changed [W-09]", async () => {
    const here = await openSigningKeys(await folder(), 1);
    const elsewhere = await openSigningKeys(await folder(), 1);
    const signature = here.sign({ tool: "rm", seq: 7 });
    expect(here.check({ seq: 7, tool: "rm" }, signature)).toBe("valid");
    expect(here.check({ tool: "rm", seq: 8 }, signature)).toBe("forged");
    const { keyId } = signature;
    const { mac } = elsewhere.sign({ tool: "rm", seq: 7 });
    expect(here.check({ tool: "rm", seq: 7 }, { keyId, mac })).toBe("forged");
    expect(here.check({ tool: "rm", seq: 7 }, { keyId, mac: "" })).toBe("forged");
    expect(elsewhere.check({ tool: "rm", seq: 7 }, signature)).toBe("unknown-key");
  });

  it("are made once, for all who begin at the same time, and are their user's alone", async () => {
    const directory = join(await folder(), "deep");
    const all = await Promise.all(Array.from({ length: 8 }, () => openSigningKeys(directory, 1)));
    const ids = new Set(all.map(({ keys }) => keys.map(({ id }) => id).join()));
    expect(ids.size).toBe(1);
    expect((await stat(join(directory, "signing-keys.json"))).mode & 0o077).toBe(0);
  });

  it("can be changed, and what the old one signed stays valid", async () => {
    const directory = await folder();
    const before = (await openSigningKeys(directory, 1)).sign("x");
    const made = await rotateSigningKey(directory, 2);
    const keys = await readSigningKeys(directory);
    expect(keys.keys.map(({ createdAt }) => createdAt)).toEqual([1, 2]);
    expect(keys.sign("y").keyId).toBe(made.id);
    expect(keys.check("x", before)).toBe("valid");
  });

  it("are not replaced where they cannot be read", async () => {
    const directory = await folder();
    const file = join(directory, "signing-keys.json");
    await writeFile(file, '{"keys":[{"id":1}]}');
    await expect(openSigningKeys(directory, 1)).rejects.toThrow("is no file of signing keys");
    await expect(rotateSigningKey(directory, 1)).rejects.toThrow("is no file of signing keys");
    expect(await readFile(file, "utf8")).toBe('{"keys":[{"id":1}]}');
  });

  it("are none where nobody made any: every signature is of an unknown key", async () => {
    const { keys, check } = await readSigningKeys(await folder());
    expect([keys, check("x", { keyId: "k", mac: "m" })]).toEqual([[], "unknown-key"]);
  });
});
