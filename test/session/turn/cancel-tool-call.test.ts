import { describe, expect, it } from "vitest";
import { createGate } from "../../support/gate.ts";
import { createScriptedProvider, says, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
} from "../../support/session/session-world.ts";

const CALLS = wants({ id: "c1", name: "look" }, { id: "c2", name: "edit" });

/** A turn with two tool calls. The tool `look` runs until the gate opens; `edit` starts after `look`. */
async function startTurn(parts: Partial<AgentParts> = {}) {
  const gate = createGate();
  const stopped = createGate();
  const provider = createScriptedProvider([CALLS, says("Done.")]);
  const look = createTool({ name: "look" }, async (_, { signal }) => {
    signal.addEventListener("abort", () => void stopped.pass());
    await gate.pass();
    return "seen";
  });
  const edit = createTool({ name: "edit" }, () => "edited");
  const caps = { parallelTools: 1 };
  const world = await openWorld(createAgent({ provider, tools: [look, edit], caps, ...parts }));
  await world.prompt("Go");
  const cancel = (toolCallId: string, reason?: string) =>
    world.send({ type: "cancel-tool-call", toolCallId, ...(reason !== undefined && { reason }) });
  return { world, provider, gate, stopped, cancel };
}

describe("Cancelling a tool call", () => {
  it("A running tool is stopped, the model learns the reason, and the turn continues [R-005]", async () => {
    const { world, provider, gate, stopped, cancel } = await startTurn();
    const { toolCallId } = await world.waitForEvent("tool.started");
    await gate.entry;
    expect(await cancel(toolCallId, "Too slow")).toEqual({
      status: "accepted",
      toolCallStatus: "cancelled",
      toolName: "look",
    });
    await stopped.entry;
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("tool.finished")).toMatchObject([
      { toolCallId, ending: "cancelled" },
      { ending: "succeeded" },
    ]);
    expect(Object(provider.invocations[1]?.input).results).toMatchObject([
      {
        toolCallId: "c1",
        isError: true,
        parts: [
          {
            text: "look was stopped: a person cancelled this tool call. Its effects so far are unknown. The reason given: Too slow",
          },
        ],
      },
      { toolCallId: "c2", isError: false },
    ]);
    expect(await world.listEvents("turn.finished")).toMatchObject([{ outcome: "completed" }]);
  });

  it("The shortened reason of a cancel splits no surrogate pair", async () => {
    const { world, gate, cancel } = await startTurn();
    const { toolCallId } = await world.waitForEvent("tool.started");
    await gate.entry;
    await cancel(toolCallId, `${"x".repeat(1999)}😀`);
    const { result } = await world.waitForEvent("tool.finished");
    const text = expect.stringMatching(/The reason given: x{1999}$/);
    expect(result.parts).toEqual([{ type: "text", text }]);
  });

  it("A second cancel returns already_cancelled, and a finished or unknown call is not found [R-005]", async () => {
    const { world, gate, cancel } = await startTurn();
    const { toolCallId } = await world.waitForEvent("tool.started");
    const received = await world.listEvents("tool_call.received");
    const other = received.find((call) => call.toolCallId !== toolCallId)?.toolCallId ?? "";
    expect(await cancel(other)).toMatchObject({ toolCallStatus: "cancelled", toolName: "edit" });
    expect(await cancel(other)).toMatchObject({ toolCallStatus: "already_cancelled" });
    expect(await cancel("tool_unknown")).toEqual({
      status: "accepted",
      toolCallStatus: "not_found",
    });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(await cancel(toolCallId)).toMatchObject({ toolCallStatus: "not_found" });
    expect(await world.listEvents("tool.finished")).toHaveLength(2);
  });

  it("The request of a tool call that waits for an approval is withdrawn", async () => {
    const { world, provider, gate, cancel } = await startTurn({
      approvals: { deny: [], ask: ["look"], allow: ["edit"], default: "deny" },
    });
    gate.open();
    const { approvalId, subjectId } = await world.waitForEvent("approval.requested");
    expect(await cancel(subjectId)).toMatchObject({ toolCallStatus: "cancelled" });
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("approval.resolved")).toMatchObject([
      { approvalId, decision: "deny", resolvedBy: "cancel" },
    ]);
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain(
      "look was not run: a person cancelled this tool call.",
    );
  });

  it("A sender without the right to control cannot cancel a tool call in the turn of another principal", async () => {
    const { world, gate } = await startTurn();
    const { toolCallId } = await world.waitForEvent("tool.started");
    const command = { type: "cancel-tool-call", toolCallId } as const;
    const principal = { id: "guest", rights: ["prompt"] } as const;
    expect(await world.sessions.command(world.sessionId, command, { principal })).toMatchObject({
      status: "refused",
      failure: { code: "access_denied" },
    });
    gate.open();
    await world.waitForEvent("turn.finished");
  });
});
