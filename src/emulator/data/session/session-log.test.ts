import { expect, it } from "vitest";
import { createFileLog } from "./session-log.ts";

it.skipIf(process.platform !== "linux")("refuses a record where no folder can be", async () => {
  const log = createFileLog("/proc/x/sessions/one");
  const record = { type: "used", at: 1 } as const;
  await expect(log.append(record)).rejects.toMatchObject({ code: "ENOENT" });
  await expect(log.append(record)).rejects.toMatchObject({ code: "ENOENT" });
});
