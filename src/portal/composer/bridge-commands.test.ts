import { describe, expect, it } from "vitest";
import { createLeadView, createView } from "../../../test/support/portal/session-views.ts";
import type { ToolRule } from "../../domain/tools/tool-rule.ts";
import type { ActionResult } from "../state/session-actions.ts";
import { readBridgeCommand } from "./bridge-commands.ts";

const view = createView([]);
const grant = { grantId: "grant_1", tool: "edit_file", label: "edit_file of notes.md" };

const lead = createLeadView();

const NO_TOOLS = { ok: true, value: [] } as const;

/** Runs a command which sends a request. Returns the requests and the result. */
async function act(text: string, tools: ActionResult<readonly ToolRule[]> = NO_TOOLS) {
  const run = readBridgeCommand(text, lead);
  if (run?.type !== "act") throw new Error(`${text} sends no request`);
  const sent: unknown[] = [];
  const record =
    (name: string) =>
    (...args: readonly unknown[]): Promise<ActionResult> => {
      sent.push([name, ...args]);
      return Promise.resolve({ ok: true, value: undefined });
    };
  const result = await run.act({
    compact: record("compact"),
    delegate: record("delegate"),
    setMode: record("setMode"),
    revokeGrant: record("revokeGrant"),
    listTools: () => Promise.resolve(tools),
  });
  return { sent, result };
}

describe("Commands of the bridge in the composer", () => {
  it("Commands that change the session become its requests, with their arguments", async () => {
    expect((await act("/compact")).sent).toEqual([["compact", {}]]);
    expect((await act("/compact keep names")).sent).toEqual([
      ["compact", { instructions: "keep names" }],
    ]);
    expect((await act("/mode read-only")).sent).toEqual([["setMode", "read-only"]]);
    expect((await act("/permissions revoke grant_1")).sent).toEqual([["revokeGrant", "grant_1"]]);
  });

  it("The tools are listed with the decision of the rules, and an error of the request is returned", async () => {
    const edit = {
      name: "edit_file",
      description: "",
      action: "ask",
      dependsOnArguments: true,
    } as const;
    const read = {
      name: "read_file",
      description: "",
      action: "allow",
      dependsOnArguments: false,
    } as const;
    const { result } = await act("/tools", { ok: true, value: [edit, read] });
    expect(result).toEqual({
      ok: true,
      value: {
        command: "tools",
        rows: [
          { name: "edit_file", text: "needs approval; its arguments may change this" },
          { name: "read_file", text: "allowed" },
        ],
      },
    });
    const failed = { ok: false, error: { code: "not_found", message: "Gone" } } as const;
    expect((await act("/tools", failed)).result).toEqual(failed);
  });

  it("The status, the modes and the grants are shown without a request", () => {
    expect(readBridgeCommand("/status", { ...view, workingDirectory: "/work" })).toEqual({
      type: "reply",
      reply: {
        command: "status",
        rows: [
          { name: "Session", text: `${view.sessionId}, idle` },
          { name: "Folder", text: "/work" },
          { name: "Agent", text: view.agent },
          { name: "Mode", text: "Default" },
          { name: "Tokens", text: "not known yet" },
          { name: "Clients", text: "none" },
        ],
      },
    });
    expect(readBridgeCommand("/mode", view)).toMatchObject({
      reply: { rows: [{ name: "default" }, { name: "ask" }, { name: "read-only" }] },
    });
    expect(readBridgeCommand("/permissions", { ...view, grants: [grant] })).toMatchObject({
      reply: { rows: [{ name: "grant_1", text: "edit_file of notes.md" }] },
    });
  });

  it("/delegate starts a worker with its text, and needs a task and an agent that can delegate", async () => {
    const { sent, result } = await act("/delegate count\nall files");
    expect(sent).toEqual([["delegate", "count\nall files"]]);
    expect(result).toMatchObject({ ok: true, value: { text: "The worker has started" } });
    expect(readBridgeCommand("/delegate", lead)).toEqual({
      type: "problem",
      problem: "/delegate is not complete: expected /delegate TASK",
    });
    expect(readBridgeCommand("/delegate count", view)).toEqual({
      type: "problem",
      problem: "This session cannot start workers",
    });
  });

  it("A wrong argument is a problem, and other text is not a command of the bridge", () => {
    expect(readBridgeCommand("/mode aks", view)).toMatchObject({
      type: "problem",
      problem: expect.stringContaining("ask"),
    });
    expect(readBridgeCommand("/permissions all", view)).toMatchObject({ type: "problem" });
    for (const text of ["hello", "/review main", "see /status", "/etc/status"])
      expect(readBridgeCommand(text, view)).toBeUndefined();
  });
});
