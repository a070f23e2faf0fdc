import { describe, expect, it } from "vitest";
import { createFakeClock } from "../support/fake-clock.ts";
import { opened, tamper, temporaryFile } from "./sqlite-support.ts";

describe("Records in a file", () => {
  it("When two processes write the same version of a record, the second is refused [W-37]", async () => {
    const file = temporaryFile();
    const [first, second] = [await opened({ file }), await opened({ file })];
    const write = (value: string) => ({ value, expectedVersion: null });
    expect(await first.putRecord("external", "key_1", write("first"))).toMatchObject({
      status: "stored",
    });
    expect(await second.putRecord("external", "key_1", write("second"))).toMatchObject({
      status: "conflict",
      current: { value: "first" },
    });
  });

  it("A read-only store reads records and refuses to change them", async () => {
    const file = temporaryFile();
    const writer = await opened({ file });
    await writer.putRecord("budget", "ada", { value: 1 });
    const reader = await opened({ file, readOnly: true });
    expect(await reader.readRecord("budget", "ada")).toMatchObject({ value: 1 });
    expect(await reader.listRecords({ scope: "budget", limit: 9 })).toMatchObject({
      records: [{ key: "ada" }],
    });
    const refusal = { code: "store_failed", message: `${file} was opened for reading` };
    const write = reader.putRecord("budget", "ada", { value: 2 });
    await expect(write).rejects.toMatchObject(refusal);
    await expect(reader.deleteRecord("budget", "ada")).rejects.toMatchObject(refusal);
  });

  it("Each write removes up to 100 expired records from the file", async () => {
    const file = temporaryFile();
    const clock = createFakeClock(1000);
    const store = await opened({ file, clock });
    for (let index = 0; index < 150; index++) {
      await store.putRecord("budget", `key_${index}`, { value: index, expiresAt: 2000 });
    }
    clock.advance(1000);
    const countRows = async (): Promise<unknown> => {
      let row: unknown;
      await tamper(file, (database) => {
        row = database.prepare("SELECT count(*) AS rows FROM records").get();
      });
      return row;
    };
    await store.putRecord("budget", "ada", { value: 1 });
    expect(await countRows()).toEqual({ rows: 51 });
    await store.putRecord("budget", "bob", { value: 1 });
    expect(await countRows()).toEqual({ rows: 2 });
  });

  it("A damaged record is refused, and the integrity check reports it", async () => {
    const file = temporaryFile();
    const first = await opened({ file });
    await first.putRecord("budget", "ada", { value: 1 });
    await first.putRecord("budget", "bob", { value: 2 });
    await first.close();
    await tamper(file, (database) =>
      database.exec("UPDATE records SET value = '{' WHERE key = 'ada'"),
    );
    const store = await opened({ file });
    await expect(store.readRecord("budget", "ada")).rejects.toMatchObject({
      code: "store_damaged",
      message: "The record ada of budget cannot be read: its value is not JSON",
      details: { scope: "budget", key: "ada" },
    });
    expect(await store.readRecord("budget", "bob")).toMatchObject({ value: 2 });
    expect(await store.checkIntegrity()).toEqual(["The value of record ada of budget is not JSON"]);
  });
});
