import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { portalToken } from "./portal-token.ts";

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "spanline-token-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "data");
}

describe("the portal's token", () => {
  it("is made once for a directory, for its user alone", async () => {
    const directory = folder();
    const token = await portalToken(directory);
    expect(token).toMatch(/^t[0-9a-f]{40}$/);
    expect(await portalToken(directory)).toBe(token);
    expect(statSync(join(directory, "portal.token")).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(["portal.token"]);
  });

  it.skipIf(process.platform !== "linux")("is refused where no folder can be", async () => {
    await expect(portalToken("/proc/x/y")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is one for all who begin at once", async () => {
    const directory = folder();
    const tokens = await Promise.all(Array.from({ length: 8 }, () => portalToken(directory)));
    expect(new Set(tokens)).toEqual(
      new Set([readFileSync(join(directory, "portal.token"), "utf8").trim()]),
    );
  });

  it("is another one when that is wanted, and stays that", async () => {
    const directory = folder();
    const first = await portalToken(directory);
    const second = await portalToken(directory, { renew: true });
    expect(second).not.toBe(first);
    expect(await portalToken(directory)).toBe(second);
  });

  it("is made anew where the file holds none", async () => {
    const directory = folder();
    await portalToken(directory);
    writeFileSync(join(directory, "portal.token"), "\n");
    const token = await portalToken(directory);
    expect(token).toMatch(/^t[0-9a-f]{40}$/);
    expect(await portalToken(directory)).toBe(token);
  });
});
