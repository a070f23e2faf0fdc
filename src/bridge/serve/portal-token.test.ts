import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ensurePortalToken } from "./portal-token.ts";

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "spanline-token-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "data");
}

describe("The portal token", () => {
  it("The token of a directory is created once, readable by its user only", async () => {
    const directory = folder();
    const token = await ensurePortalToken(directory);
    expect(token).toMatch(/^t[0-9a-f]{40}$/);
    expect(await ensurePortalToken(directory)).toBe(token);
    expect(statSync(join(directory, "portal.token")).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(["portal.token"]);
  });

  it.skipIf(process.platform !== "linux")(
    "The token is refused where no folder can be created",
    async () => {
      await expect(ensurePortalToken("/proc/x/y")).rejects.toMatchObject({ code: "ENOENT" });
    },
  );

  it("Concurrent starts share one token", async () => {
    const directory = folder();
    const tokens = await Promise.all(Array.from({ length: 8 }, () => ensurePortalToken(directory)));
    expect(new Set(tokens)).toEqual(
      new Set([readFileSync(join(directory, "portal.token"), "utf8").trim()]),
    );
  });

  it("A renewed token replaces the old one permanently", async () => {
    const directory = folder();
    const first = await ensurePortalToken(directory);
    const second = await ensurePortalToken(directory, { renew: true });
    expect(second).not.toBe(first);
    expect(await ensurePortalToken(directory)).toBe(second);
  });

  it("A file without a valid token is replaced", async () => {
    const directory = folder();
    await ensurePortalToken(directory);
    writeFileSync(join(directory, "portal.token"), "\n");
    const token = await ensurePortalToken(directory);
    expect(token).toMatch(/^t[0-9a-f]{40}$/);
    expect(await ensurePortalToken(directory)).toBe(token);
  });
});
