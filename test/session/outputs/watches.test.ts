import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileChangeEntry, WatchRequest } from "../../../src/domain/outputs/file-watch.ts";
import type { Agent, FileWatcher } from "../../../src/session/runtime/agent/agent.ts";
import { createRuntimeTools } from "../../../src/tools/runtime/runtime-tools.ts";
import { watchWorkspace } from "../../../src/tools/workspace/watch/watch-workspace.ts";
import { eventually } from "../../support/eventually.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld, type SessionWorld } from "../../support/session/session-world.ts";

const WATCH = wants({ id: "c1", name: "watch_files", input: { paths: ["src"] } });

/** Creates an agent with watchers. The test reports the changes. */
function createWatchingAgent(script: readonly ProviderScript[]) {
  const watchers: { readonly request: WatchRequest; readonly watcher: FileWatcher }[] = [];
  const provider = createScriptedProvider(script);
  const agent: Agent = {
    ...createAgent({ provider, tools: createRuntimeTools(["watch_files"]) }),
    resolvePaths: async ({ paths }) => ({
      paths: paths.map(({ argument, input }) => ({
        argument,
        input,
        location: "inside",
        workspacePath: input,
        hostPath: `/w/${input}`,
      })),
    }),
    watchFiles: (request, _, watcher) => {
      watchers.push({ request, watcher });
      return new Promise((resolve) => {
        watcher.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  };
  const change = (at: number, relativePath: string): void =>
    watchers[at]?.watcher.onChange({
      kind: "modify",
      path: `/w/${relativePath}`,
      relativePath,
      rawKind: "change",
    });
  const countActive = (): number =>
    watchers.filter(({ watcher }) => !watcher.signal.aborted).length;
  return { agent, provider, watchers, change, countActive };
}

const entry = (path: string): FileChangeEntry => ({
  kind: "modify",
  paths: [`/w/${path}`],
  relativePaths: [path],
  rawKind: "change",
  error: null,
});

describe("Subscriptions to changes of files", () => {
  it("The agent receives the changes of its subscription as a reminder, and a restart watches again", async () => {
    const { agent, provider, watchers, change, countActive } = createWatchingAgent([
      WATCH,
      says("Watching."),
      says("Seen."),
    ]);
    const clock = createFakeClock();
    const world = await openWorld(agent, { clock });
    await world.prompt("Watch.");
    await world.waitForEvent("turn.finished");
    const added = await world.waitForEvent("watch.added");
    expect(added).toMatchObject({ owner: { kind: "agent" }, paths: ["src"], globs: [] });
    await eventually(() => expect(watchers.map(({ request }) => request.paths)).toEqual([["src"]]));
    change(0, "src/a.ts");
    clock.advance(100);
    const { subscriptionId } = added;
    expect(await world.waitForEvent("files.changed")).toEqual({
      type: "files.changed",
      subscriptionId,
      entries: [entry("src/a.ts")],
    });

    const restarted = await world.restart();
    await eventually(() => expect(watchers).toHaveLength(2));
    change(1, "src/b.ts");
    clock.advance(100);
    await restarted.waitForEvent("files.changed", 2);
    await restarted.prompt("Go on.");
    await restarted.waitForEvent("turn.finished", 2);
    const reminders = await restarted.listEvents("reminder.emitted");
    expect(reminders.map(({ reminder }) => reminder.tags)).toEqual([["watched_files"]]);
    expect(JSON.stringify(provider.invocations.at(-1)?.input)).toContain("src/b.ts");
    expect(countActive()).toBeGreaterThan(0);
  });

  it("A subscription ends on request and after a day", async () => {
    const { agent, countActive } = createWatchingAgent([
      WATCH,
      says("Watching."),
      wants({ id: "c2", name: "watch_files", input: { paths: ["docs"] } }),
      hangs(),
    ]);
    const clock = createFakeClock();
    const world = await openWorld(agent, { clock });
    await world.prompt("Watch.");
    const { subscriptionId } = await world.waitForEvent("watch.added");
    await eventually(() => expect(countActive()).toBe(1));
    expect(await world.send({ type: "unwatch-files", subscriptionId })).toMatchObject({
      status: "accepted",
    });
    await eventually(() => expect(countActive()).toBe(0));
    expect(await world.send({ type: "unwatch-files", subscriptionId })).toMatchObject({
      status: "refused",
      failure: { code: "not_found" },
    });
    await world.waitForEvent("turn.finished");
    await world.prompt("Again.");
    await world.waitForEvent("watch.added", 2);
    clock.advance(86_400_000);
    expect(await world.waitForEvent("watch.removed", 2)).toMatchObject({ reason: "expired" });
    await eventually(() => expect(countActive()).toBe(0));
  });

  it("A session has at most 16 subscriptions, and invalid requests are refused", async () => {
    const { agent } = createWatchingAgent([]);
    const world = await openWorld(agent);
    const watch = (paths: readonly string[] = []) =>
      world.send({ type: "watch-files", paths, globs: [] });
    for (let at = 0; at < 16; at++) expect(await watch()).toMatchObject({ status: "accepted" });
    expect(await watch()).toMatchObject({ failure: { code: "quota_exceeded" } });
    expect(await watch(["a\0b"])).toMatchObject({ failure: { code: "validation_failed" } });
    const added = await world.listEvents("watch.added");
    expect(added.map(({ owner }) => owner.kind)).toEqual(
      Array.from({ length: 16 }, () => "session"),
    );
  });

  it("A path outside of the workspace is reported as an error of the subscription", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "spanline-watches-")));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    const { agent } = createWatchingAgent([]);
    const world = await openWorld({
      ...agent,
      watchFiles: (request, _, watcher) =>
        watchWorkspace(request, { root, protectedFolders: [] }, watcher),
    });
    await world.send({ type: "watch-files", paths: ["../.."], globs: [] });
    const { entries } = await world.waitForEvent("files.changed");
    expect(entries).toMatchObject([
      {
        kind: "error",
        paths: [],
        error: "../.. cannot be watched: it leads outside the workspace",
      },
    ]);
    await world.send({ type: "watch-files", paths: [], globs: ["*.md"] });
    const { subscriptionId } = await world.waitForEvent("watch.added", 2);
    await eventually(async () => {
      await writeFile(join(root, "new.md"), `${Math.random()}`);
      const changes = await world.listEvents("files.changed");
      const own = changes.find((event) => event.subscriptionId === subscriptionId);
      expect(own?.entries[0]?.relativePaths).toEqual(["new.md"]);
    });
  });

  it("A folder which the session no longer has is no longer watched", async () => {
    const watched: (readonly string[])[] = [];
    const signals: AbortSignal[] = [];
    const { agent } = createWatchingAgent([]);
    const world = await openWorld({
      ...agent,
      resolveFolder: async (folder = "/w") => folder,
      watchFiles: (_, { folders }, { signal }) => {
        watched.push(folders);
        signals.push(signal);
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
    });
    await world.send({ type: "set-folders", folders: ["/w/other"] });
    await world.send({ type: "watch-files", paths: ["/w/other"], globs: [] });
    await eventually(() => expect(watched).toEqual([["/w/other"]]));
    await world.send({ type: "set-folders", folders: [] });
    await eventually(() => expect(watched).toEqual([["/w/other"], []]));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("The subscription of a client is ended by the client, or with the right to control", async () => {
    const { agent } = createWatchingAgent([]);
    const world = await openWorld(agent);
    const clientId = "editor";
    await world.send(
      { type: "attach", clientId, mode: "controller", name: clientId },
      { clientId },
    );
    const watch = { type: "watch-files", paths: ["."], globs: [] } as const;
    const unwatch = async (from: Parameters<SessionWorld["send"]>[1]) => {
      const { subscriptionId = "" } = (await world.listEvents("watch.added")).at(-1) ?? {};
      return world.send({ type: "unwatch-files", subscriptionId }, from);
    };
    await world.send(watch, { clientId });
    expect(await unwatch({ principal: { id: "guest", rights: ["prompt"] } })).toMatchObject({
      failure: { code: "access_denied", message: expect.stringContaining("another client") },
    });
    expect(await unwatch({ clientId })).toMatchObject({ status: "accepted" });
    await world.send(watch, { clientId });
    expect(await unwatch({})).toMatchObject({ status: "accepted" });
    await world.send(watch);
    expect(await unwatch({ principal: { id: "guest", rights: ["prompt"] } })).toMatchObject({
      status: "accepted",
    });
  });
});
