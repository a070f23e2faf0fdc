import { expect, it } from "vitest";
import { createFileLog } from "./session-log.ts";

it.skipIf(process.platform !== "linux")(
  "Appending a record fails if the folder cannot be created",
  async () => {
    const log = createFileLog("/proc/x/sessions/one");
    const record = { type: "used", at: 1 } as const;
    await expect(log.append(record)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(log.append(record)).rejects.toMatchObject({ code: "ENOENT" });
  },
);
