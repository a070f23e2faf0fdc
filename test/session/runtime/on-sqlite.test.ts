import { describe, expect, it } from "vitest";
import { createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import { MAX_OUTPUT_CHARACTERS } from "../../../src/session/runtime/effects/store-output.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";
import { opened, temporaryFile } from "../../store/sqlite-support.ts";

describe("A session on disk", () => {
  it("The next process has the same approval requests, outputs and replies", async () => {
    const store = await opened({ file: temporaryFile() });
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "read" }, { id: "c2", name: "send" }),
      says("Both."),
    ]);
    const long = "a".repeat(MAX_OUTPUT_CHARACTERS + 1);
    const read = createTool({ name: "read" }, () => long);
    const send = createTool({ name: "send" }, () => "sent");
    const approvals = { deny: [], ask: ["send"], allow: ["*"], default: "ask" } as const;
    const first = await openWorld(createAgent({ provider, tools: [read, send], approvals }), {
      store,
    });
    // A cancel without a running turn is recorded, too.
    const cancel = { type: "cancel" } as const;
    const nothing = await first.send(cancel, { commandId: "1" });
    await first.prompt("Go.");
    const { blobId = "" } = await first.waitForEvent("tool.finished");
    const { approvalId } = await first.waitForEvent("approval.requested");

    const second = await first.restart();
    expect(await second.send(cancel, { commandId: "1" })).toEqual(nothing);
    await second.decideApproval(approvalId, "allow");
    expect(await second.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      steps: 2,
    });
    expect(provider.invocations[1]?.input).toMatchObject({
      results: [{ toolCallId: "c1" }, createToolSuccess("c2", "sent")],
    });
    expect(Buffer.from((await store.readBlob(second.sessionId, blobId)) ?? []).toString()).toBe(
      long,
    );
  });
});
