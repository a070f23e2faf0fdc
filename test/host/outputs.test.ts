import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionUpdate } from "../../src/host/index.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { FileWatcher } from "../../src/session/runtime/agent/agent.ts";
import { createRuntimeTools } from "../../src/tools/runtime/runtime-tools.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import { eventually } from "../support/eventually.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../support/session/session-world.ts";

describe("Outputs of an agent in the host SDK", () => {
  it("A host receives plans, progress, artifacts and handoffs, and watches files", async () => {
    const calls = [
      ["emit_plan", { steps: ["Read"] }],
      ["agent_progress", { message: "Reading", progress: 1, total: 2 }],
      ["emit_artifact", { kind: "mermaid", spec: "pie" }],
      ["emit_handoff", { target_persona_or_human: "ada", task: "Review" }],
    ] as const;
    const script = calls.map(([name, input], at) =>
      wants({ id: `c${at}`, name, input: JSON.parse(JSON.stringify(input)) }),
    );
    const watchers: FileWatcher[] = [];
    const sessions = openSessions(createMemoryStore(), {
      ...createAgent({
        provider: createScriptedProvider([...script, says("Done.")]),
        tools: createRuntimeTools(["emit_plan", "agent_progress", "emit_artifact", "emit_handoff"]),
      }),
      watchFiles: (_request, _location, watcher) => {
        watchers.push(watcher);
        return new Promise((resolve) => {
          watcher.signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
    });
    onTestFinished(() => sessions.close());
    const updates: SessionUpdate[] = [];
    const { client } = createHostClient(sessions, {
      onUpdate: ({ update }) => void updates.push(update),
    });
    const { sessionId } = await client.newSession({ workingDirectory: "/work" });
    await client.prompt(sessionId, "Go").result;
    const subscriptionId = await client.watchFiles(sessionId, { paths: ["src"] });
    await eventually(() => expect(watchers).toHaveLength(1));
    watchers[0]?.onProblem("A folder is no longer watched");
    const names = () =>
      updates.flatMap((update) => (update.type === "extension" ? [update.name] : []));
    await eventually(() => expect(names()).toContain("fs_watch"));
    expect(names().filter((name) => !["live_session_client", "log"].includes(name))).toEqual([
      "progress",
      "artifact",
      "handoff",
      "fs_watch",
    ]);
    const plan = updates.find((update) => update.type === "plan");
    expect(plan?.plan).toMatchObject({ schema_version: "harn.plan.v1", tool: "emit_plan" });
    await client.unwatchFiles(sessionId, subscriptionId);
    await eventually(() => expect(watchers[0]?.signal.aborted).toBe(true));
    await client.close();
  });
});
