import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { watchWorkspace } from "../../src/tools/workspace/watch/watch-workspace.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import { LOCAL } from "../support/acp/steering-world.ts";
import { eventually } from "../support/eventually.ts";
import { createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../support/session/session-world.ts";

/** Serves a session with an agent which watches a real folder. */
async function startApi() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "spanline-watch-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const store = createMemoryStore();
  const sessions = openSessions(store, {
    ...createAgent({ provider: createScriptedProvider([]) }),
    watchFiles: (request, _, watcher) =>
      watchWorkspace(request, { root, protectedFolders: [] }, watcher),
  });
  onTestFinished(() => sessions.close());
  const { url } = await startAcpServer(sessions);
  const { sessionId } = await sessions.open({ principal: LOCAL });
  const send = async (body: object, more: { readonly [name: string]: string } = {}) => {
    const response = await fetch(`${url}/api/sessions/${sessionId}/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...more },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const readLog = async () => (await store.read(sessionId, 0, 1000)).map(({ event }) => event);
  return { root, send, readLog };
}

describe("File watches over /api", () => {
  it("A caller receives the changes of watched files as events, until the subscription ends", async () => {
    const { root, send, readLog } = await startApi();
    const key = { "idempotency-key": "watch-1" };
    const watch = { type: "watch-files", paths: ["."], globs: ["*.md"] };
    const added = await send(watch, key);
    expect(added).toEqual({
      status: 200,
      body: { status: "accepted", subscriptionId: expect.stringMatching(/^fsw_/) },
    });
    expect(await send(watch, key)).toEqual(added);
    const { subscriptionId } = added.body;
    let count = 0;
    await eventually(async () => {
      // Written again until the watcher has started.
      await writeFile(join(root, "notes.md"), String(count++));
      await writeFile(join(root, "notes.txt"), String(count++));
      const changed = (await readLog()).find(({ type }) => type === "files.changed");
      expect(changed).toMatchObject({
        subscriptionId,
        entries: [{ paths: [join(root, "notes.md")], relativePaths: ["notes.md"] }],
      });
    });
    const unwatch = { type: "unwatch-files", subscriptionId };
    expect(await send(unwatch)).toEqual({
      status: 200,
      body: { status: "accepted", subscriptionId },
    });
    expect(await send(unwatch)).toMatchObject({
      status: 409,
      body: {
        error: { code: "not_found", message: "The session has no subscription with this id" },
      },
    });
  });

  it("A subscription above the limit is refused with the ids of the others", async () => {
    const { send } = await startApi();
    const subscriptionIds: unknown[] = [];
    for (let at = 0; at < 16; at++) {
      const { body } = await send({ type: "watch-files" });
      subscriptionIds.push(body.subscriptionId);
    }
    expect(await send({ type: "watch-files" })).toEqual({
      status: 409,
      body: {
        error: {
          code: "quota_exceeded",
          message:
            'The session has 16 subscriptions, the most it may have. Fix: end one of "subscriptionIds"',
          details: { subscriptionIds },
        },
      },
    });
  });

  it.each<readonly [name: string, fields: object, message: string]>([
    ["paths of another type", { paths: "src" }, '"paths" is not valid'],
    ["an empty path", { paths: [""] }, '"paths" is not valid'],
    ["a path with a null character", { paths: ["a\0b"] }, '"paths" is not valid'],
    ["too many paths", { paths: Array.from({ length: 17 }, () => "a") }, "at most 16 strings"],
    ["a long path", { paths: ["a".repeat(4097)] }, "of 1 to 4096 characters"],
    ["a long pattern", { globs: ["*".repeat(501)] }, "of 1 to 500 characters"],
  ])("A request with %s is refused", async (_, fields, message) => {
    const { send, readLog } = await startApi();
    const { status, body } = await send({ type: "watch-files", ...fields });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
    expect((await readLog()).filter(({ type }) => type === "watch.added")).toEqual([]);
    expect(await send({ type: "unwatch-files" })).toMatchObject({ status: 400 });
  });
});
