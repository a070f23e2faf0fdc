import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createAcpProject, type AcpProcess } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { SDK_CLIENTS } from "../../support/acp/sdk-clients.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** Collects the errors and warnings of the official client. */
function complaints(): unknown[][] {
  const made: unknown[][] = [];
  for (const name of ["error", "warn"] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...args) => void made.push(args));
    onTestFinished(() => spy.mockRestore());
  }
  return made;
}

/** The editor closes and its agent process exits. */
async function end({ input, exit, notes }: AcpProcess): Promise<void> {
  input.end();
  expect(await exit).toEqual([0, null]);
  expect(notes()).toBe("");
}

describe.each(SDK_CLIENTS)(
  "The official client %s with an agent process that it started",
  (_, connect) => {
    it("A whole session causes no client error and no output on stderr [ACP-13] [ACP-128] [ACP-135] [ACP-136]", async () => {
      const faults = complaints();
      const world = await createAcpProject(command);
      const agent = world.start();
      const client = await connect(agent);
      const sessionId = await client.newSession(world.project);

      expect(await client.prompt(sessionId, "write it down")).toBe("end_turn");
      expect(client.permissionTitles).toEqual(["write_file"]);
      expect(world.readWritten("note.txt")).toBe("write it down");
      expect(client.receivedUpdates.filter((one) => /^tool_call.*: ./.test(one))).toEqual([
        "tool_call: pending",
        "tool_call_update: in_progress",
        "tool_call_update: completed",
      ]);

      const cancelled = client.prompt(sessionId, "wait for me");
      await client.waitForUpdate("agent_message_chunk: One");
      await client.cancel(sessionId);
      expect(await cancelled).toBe("cancelled");

      const queue = ["first", "second", "third"].map((text) => client.prompt(sessionId, text));
      expect(await Promise.all(queue)).toEqual(["end_turn", "end_turn", "end_turn"]);
      const answers = client.receivedUpdates.join("").replaceAll("agent_message_chunk: ", "");
      expect(answers).toMatch(/You said: first.*You said: second.*You said: third/s);
      await end(agent);

      const next = world.start();
      const resumed = await connect(next);
      await resumed.resumeSession(sessionId, world.project);
      const before = resumed.receivedUpdates.filter((one) => /message|tool/.test(one));
      expect(before).toEqual([]);
      expect(await resumed.prompt(sessionId, "still there?")).toBe("end_turn");
      const modelInputs = world.model.modelRequests
        .at(-1)
        ?.messages.map(({ content }) => JSON.stringify(content));
      expect(modelInputs?.join()).toContain("write it down");
      await end(next);
      expect(faults).toEqual([]);
    });

    it("The client changes the mode both ways and runs slash commands with and without a model [ACP-41] [ACP-43] [ACP-77]", async () => {
      const faults = complaints();
      const shout = { description: "Say it louder", prompt: "LOUD $ARGUMENTS" };
      const world = await createAcpProject(command, { commands: { shout } });
      const agent = world.start();
      const client = await connect(agent);
      const sessionId = await client.newSession(world.project);
      await client.waitForUpdate("available_commands_update");
      expect(await client.prompt(sessionId, "/status")).toBe("end_turn");
      await client.waitForUpdate(`agent_message_chunk: - Session: \`${sessionId}\``);
      await client.setMode(sessionId, "read-only");
      await client.waitForUpdate("current_mode_update: read-only");
      expect(world.model.modelRequests).toEqual([]);
      expect(await client.prompt(sessionId, "write it down")).toBe("end_turn");
      expect(client.permissionTitles).toEqual([]);
      expect(world.readWritten("note.txt")).toBe(undefined);
      expect(world.hasModelReceived("runs only read-only tools")).toBe(true);
      expect(await client.setOption(sessionId, "mode", "ask")).toEqual(["ask"]);
      await client.waitForUpdate("current_mode_update: ask");
      expect(await client.prompt(sessionId, "/shout hello")).toBe("end_turn");
      expect(world.hasModelReceived("LOUD hello")).toBe(true);
      await end(agent);
      expect(faults).toEqual([]);
    });

    it("Other clients can join and leave its session without errors [ACP-128]", async () => {
      const faults = complaints();
      const world = await createAcpProject(command);
      const agent = world.start();
      const client = await connect(agent);
      const sessionId = await client.newSession(world.project);
      const joined = world.start();
      const other = await connect(joined);
      await other.loadSession(sessionId, world.project);
      expect(await other.prompt(sessionId, "hello")).toBe("end_turn");
      await client.waitForUpdate("user_message_chunk: hello");
      await end(joined);
      expect(await client.prompt(sessionId, "still there?")).toBe("end_turn");
      await end(agent);
      expect(faults).toEqual([]);
    });

    it("The client continues with another process after its agent is killed [ACP-59]", async () => {
      const world = await createAcpProject(command);
      const agent = world.start();
      const client = await connect(agent);
      const sessionId = await client.newSession(world.project);
      expect(await client.prompt(sessionId, "write it down")).toBe("end_turn");
      const lost = client.prompt(sessionId, "wait for me").catch(() => "lost");
      await client.waitForUpdate("agent_message_chunk: One");
      agent.child.kill("SIGKILL");
      expect(await agent.exit).toEqual([null, "SIGKILL"]);
      expect(await lost).toBe("lost");

      const faults = complaints();
      const next = world.start();
      const second = await connect(next);
      await second.loadSession(sessionId, world.project);
      expect(second.receivedUpdates.filter((one) => /message/.test(one)).slice(0, 2)).toEqual([
        "user_message_chunk: write it down",
        "agent_message_chunk: Let me see.",
      ]);
      expect(second.receivedUpdates.join("\n")).toContain("user_message_chunk: wait for me");
      // A permission request asks how the interrupted response continues; this client selects to continue.
      await eventually(() =>
        expect(second.permissionTitles).toEqual([expect.stringContaining("was lost")]),
      );
      expect(await second.prompt(sessionId, "and now?")).toBe("end_turn");
      expect(second.receivedUpdates.join("").replaceAll("agent_message_chunk: ", "")).toContain(
        "You said: and now?",
      );
      await end(next);
      expect(faults).toEqual([]);
    });
  },
);
