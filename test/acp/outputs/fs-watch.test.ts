import { describe, expect, it } from "vitest";
import type { Agent, FileWatcher } from "../../../src/session/runtime/agent/agent.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { findHarnUpdates } from "../../support/acp/harn-updates.ts";
import { ACP_TRANSPORTS } from "../../support/acp/transports.ts";
import { eventually } from "../../support/eventually.ts";
import { createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";

describe.each(ACP_TRANSPORTS)("File watches over %s", (_, connect) => {
  it("Changes of watched files are sent with exactly the documented fields, until the client detaches [B-037]", async () => {
    const watchers: FileWatcher[] = [];
    const agent: Agent = {
      ...createAgent({ provider: createScriptedProvider([]) }),
      watchFiles: (_request, _location, watcher) => {
        watchers.push(watcher);
        return new Promise((resolve) => {
          watcher.signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
    };
    const store = createMemoryStore();
    const sessions = openSessions(store, agent);
    const client = await connect(sessions);
    const sessionId = await client.newSession();
    await client.requestResult("session/attach", {
      sessionId,
      clientId: "host",
      mode: "controller",
    });
    const reply = await client.requestResult("session/watch_files", {
      sessionId,
      paths: ["src"],
      globs: ["**/*.rs"],
    });
    expect(reply).toEqual({ subscriptionId: expect.any(String), status: "accepted" });
    await eventually(() => expect(watchers).toHaveLength(1));
    watchers[0]?.onChange({
      kind: "modify",
      path: "/tmp/project/src/lib.rs",
      relativePath: "src/lib.rs",
      rawKind: "Modify(Any)",
    });
    await eventually(() => expect(findHarnUpdates(client, "fs_watch")).toHaveLength(1));
    expect(findHarnUpdates(client, "fs_watch").map((update) => formatSortedJson(update))).toEqual([
      formatSortedJson({
        sessionUpdate: "fs_watch",
        _meta: {
          harn: {
            subscriptionId: reply["subscriptionId"],
            events: [
              {
                error: null,
                kind: "modify",
                paths: ["/tmp/project/src/lib.rs"],
                raw_kind: "Modify(Any)",
                relative_paths: ["src/lib.rs"],
              },
            ],
          },
        },
      }),
    ]);
    await client.requestResult("session/detach", { sessionId, clientId: "host" });
    await eventually(() => expect(watchers[0]?.signal.aborted).toBe(true));
    const log = await store.read(sessionId, 0, 1000);
    expect(log.map(({ event }) => event)).toContainEqual({
      type: "watch.removed",
      subscriptionId: reply["subscriptionId"],
      reason: "detached",
    });
    await sessions.close();
  });

  it("A subscription above the limit is refused with the ids of the others, and is accepted after one ends", async () => {
    const agent = createAgent({ provider: createScriptedProvider([]) });
    const client = await connect(openSessions(createMemoryStore(), agent));
    const sessionId = await client.newSession();
    const subscriptionIds: unknown[] = [];
    for (let at = 0; at < 16; at++) {
      const added = await client.requestResult("session/watch_files", { sessionId });
      subscriptionIds.push(added["subscriptionId"]);
    }
    const [subscriptionId] = subscriptionIds;
    expect(await client.request("session/watch_files", { sessionId })).toMatchObject({
      error: {
        message:
          'The session has 16 subscriptions, the most it may have. Fix: end one of "subscriptionIds"',
        data: { code: "quota_exceeded", subscriptionIds },
      },
    });
    await client.requestResult("session/unwatch_files", { sessionId, subscriptionId });
    const next = await client.requestResult("session/watch_files", { sessionId });
    expect(next).toMatchObject({ status: "accepted" });
  });
});
