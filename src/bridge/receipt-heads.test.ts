import { mkdtempSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openReceiptHeads, readReceiptHeads } from "./receipt-heads.ts";

function keysFolder(): { readonly directory: string; readonly file: string } {
  const directory = mkdtempSync(join(tmpdir(), "spanline-heads-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "keys"));
  return { directory, file: join(directory, "keys", "receipt-heads.db") };
}

async function opened(directory: string) {
  const problems: unknown[] = [];
  const heads = await openReceiptHeads(directory, (error) => void problems.push(error));
  onTestFinished(() => heads.close());
  return { heads, problems };
}

const CHAIN = { firstMac: "mac_1", incarnation: "log_1" };
const last = (number: number) => ({ number, mac: `mac_${number}`, first: CHAIN.firstMac });

describe("The recorded heads of receipt chains", () => {
  it("A head is found by the first receipt of its chain, or by its log if the chain has no receipt [W-09]", async () => {
    const { directory } = keysFolder();
    const { heads } = await opened(directory);
    expect(heads.read(CHAIN)).toBeUndefined();
    heads.save("log_1", last(3));
    expect(heads.read({ ...CHAIN, incarnation: "log_2" })).toMatchObject({
      number: 3,
      mac: "mac_3",
    });
    expect(heads.read({ ...CHAIN, firstMac: null })).toMatchObject({ number: 3, mac: "mac_3" });
    expect(heads.read({ firstMac: "mac_x", incarnation: "log_1" })).toBeUndefined();
    expect(heads.read({ firstMac: null, incarnation: "log_2" })).toBeUndefined();
  });

  it("A lower number never replaces a higher one, whichever process saves it [W-09]", async () => {
    const { directory } = keysFolder();
    const [one, other] = [await opened(directory), await opened(directory)];
    one.heads.save("log_1", last(5));
    other.heads.save("log_1", last(4));
    expect(one.heads.read(CHAIN)).toMatchObject({ number: 5 });
    other.heads.save("log_1", last(6));
    expect(one.heads.read(CHAIN)).toMatchObject({ number: 6 });
  });

  it("An audit compares a log with the heads from before it was read [W-09]", async () => {
    const { directory } = keysFolder();
    const { heads } = await opened(directory);
    heads.save("log_1", last(5));
    const reader = await readReceiptHeads(directory);
    heads.save("log_1", last(6));
    expect(reader.missingAfter("log_1", last(5))).toBe(0);
    expect(reader.missingAfter("log_1", last(3))).toBe(2);
    expect(reader.missingAfter("log_1", { ...last(5), mac: "mac_y" })).toBe(1);
    expect(reader.missingAfter("log_1", { number: 0, mac: null, first: null })).toBe(5);
    reader.close();
    const next = await readReceiptHeads(directory);
    expect(next.missingAfter("log_1", last(5))).toBe(1);
    next.close();
  });

  it("Without a recorded head, no receipt is missing", async () => {
    const { directory, file } = keysFolder();
    expect((await readReceiptHeads(directory)).missingAfter("log_1", last(1))).toBe(0);
    writeFileSync(file, "");
    const reader = await readReceiptHeads(directory);
    expect(reader.missingAfter("log_1", last(1))).toBe(0);
    reader.close();
  });

  it("Only the user can read the file", async () => {
    const { directory, file } = keysFolder();
    const { heads } = await opened(directory);
    heads.save("log_1", last(1));
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it("A file that is not a database is reported once and stops nothing", async () => {
    const { directory, file } = keysFolder();
    writeFileSync(file, "not a database ".repeat(100));
    const { heads, problems } = await opened(directory);
    heads.save("log_1", last(1));
    expect(heads.read(CHAIN)).toBeUndefined();
    expect(problems).toMatchObject([
      { message: expect.stringContaining("The last receipts cannot be recorded") },
    ]);
    await expect(readReceiptHeads(directory)).rejects.toThrow(/receipt-heads\.db/);
  });
});
