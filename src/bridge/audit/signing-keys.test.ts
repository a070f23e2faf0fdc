import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSigningKeys, readSigningKeys, rotateSigningKey } from "./signing-keys.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "spanline-keys-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe("Signing keys", () => {
  it("Only a holder of the key can create a valid signature, and any change of the content invalidates it [W-09]", async () => {
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

  it("Concurrent starts create the key once, readable by its user only", async () => {
    const directory = join(await folder(), "deep");
    const all = await Promise.all(Array.from({ length: 8 }, () => openSigningKeys(directory, 1)));
    const ids = new Set(all.map(({ keys }) => keys.map(({ id }) => id).join()));
    expect(ids.size).toBe(1);
    expect((await stat(join(directory, "keys/signing-keys.json"))).mode & 0o077).toBe(0);
  });

  it("After a rotation, signatures of the old key stay valid", async () => {
    const directory = await folder();
    const before = (await openSigningKeys(directory, 1)).sign("x");
    const made = await rotateSigningKey(directory, 2);
    const keys = await readSigningKeys(directory);
    expect(keys.keys.map(({ createdAt }) => createdAt)).toEqual([1, 2]);
    expect(keys.sign("y").keyId).toBe(made.id);
    expect(keys.check("x", before)).toBe("valid");
  });

  it("An unreadable key file is not replaced", async () => {
    const directory = await folder();
    const file = join(directory, "keys/signing-keys.json");
    await mkdir(join(directory, "keys"));
    await writeFile(file, '{"keys":[{"id":1}]}');
    await expect(openSigningKeys(directory, 1)).rejects.toThrow(
      "is not a valid file of signing keys",
    );
    await expect(rotateSigningKey(directory, 1)).rejects.toThrow(
      "is not a valid file of signing keys",
    );
    expect(await readFile(file, "utf8")).toBe('{"keys":[{"id":1}]}');
  });

  it("Keys stored with the sessions are moved away and still verify their signatures", async () => {
    const directory = await folder();
    const old = join(directory, "signing-keys.json");
    const place = join(directory, "keys/signing-keys.json");
    const signature = (await openSigningKeys(directory, 1)).sign("x");
    await rename(place, old);
    expect((await readSigningKeys(directory)).check("x", signature)).toBe("valid");
    const all = await Promise.all(Array.from({ length: 4 }, () => openSigningKeys(directory, 2)));
    expect(all.map(({ check }) => check("x", signature))).toEqual(Array(4).fill("valid"));
    await expect(stat(old)).rejects.toThrow("ENOENT");
    // An older version has created a key file in the old place again.
    const elsewhere = await folder();
    const other = (await openSigningKeys(elsewhere, 3)).sign("y");
    await rename(join(elsewhere, "keys/signing-keys.json"), old);
    const both = await openSigningKeys(directory, 4);
    expect([both.check("x", signature), both.check("y", other)]).toEqual(["valid", "valid"]);
    expect(both.sign("z").keyId).toBe(signature.keyId);
  });

  it("Without keys, every signature has an unknown key", async () => {
    const { keys, check } = await readSigningKeys(await folder());
    expect([keys, check("x", { keyId: "k", mac: "m" })]).toEqual([[], "unknown-key"]);
  });
});
