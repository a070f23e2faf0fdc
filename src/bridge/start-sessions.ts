import { join } from "node:path";
import { randomText } from "../platform/random.ts";
import { createSessions } from "../session/create-sessions.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import type { OwnedSessions } from "./ownership.ts";

/** Runs the sessions of a directory in this process, from where the last one left them. */
export async function startSessions({
  directory,
  clock,
  agents,
  report,
}: BridgeOptions): Promise<OwnedSessions> {
  const store = await openSqliteStore({ file: join(directory, "sessions.db"), clock });
  const started = await agents();
  const sessions = createSessions({
    store,
    agents: started.agents,
    clock,
    owner: `${process.pid}-${randomText(8)}`,
    report,
  });
  await sessions.recover();
  return {
    sessions,
    async close() {
      await sessions.close();
      await started.close();
      await store.close();
    },
  };
}
