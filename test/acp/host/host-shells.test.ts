import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/data/json.ts";
import { createShell } from "../../../src/domain/tools/create-shell.ts";
import { workspaceTools } from "../../../src/tools/workspace/workspace-tools.ts";
import { encodeShellList } from "../../../src/wire/acp/host/shell-replies.ts";
import { connectAcpClient, readText, type AcpClient } from "../../support/acp/acp-client.ts";
import {
  createClientToolSessions,
  type ClientToolSessions,
} from "../../support/session/client-tool-sessions.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { createTemporaryFolder } from "../../support/session/test-workspace.ts";

const place = { platform: "linux", source: "env", isAvailable: true } as const;
const known = (...paths: readonly string[]) => {
  const shells = paths.map((path) => createShell({ ...place, path }));
  return encodeShellList({ shells, defaultId: shells[0]?.id ?? null });
};

function world(): ClientToolSessions & { readonly root: string } {
  const root = createTemporaryFolder();
  const environment = { PATH: "/usr/bin:/bin", SPANLINE_SHELL: "/bin/sh" };
  const tools = workspaceTools({ root, protectedFolders: [], environment });
  const call = { id: "c", name: "run_command", input: { command: 'echo "by $0"' } };
  return {
    root,
    ...createClientToolSessions([wants(call), says("Done."), wants(call), says("Done.")], {
      tools,
    }),
  };
}

async function prompted(
  { sessions, root, listResults }: ReturnType<typeof world>,
  { answer, harn = { shells: true } }: { answer?: object; harn?: JsonValue },
): Promise<{ readonly client: AcpClient; readonly text: string }> {
  // The fake clock keeps a slow machine from causing timeouts.
  const client = await connectAcpClient(sessions, { clock: createFakeClock() });
  const hostCall = client.waitForMessage(({ method }) => method === "host/call");
  await client.request("initialize", { clientCapabilities: { _meta: { harn } } });
  if (answer !== undefined) client.send({ jsonrpc: "2.0", id: (await hostCall)["id"], ...answer });
  const opened = await client.requestResult("session/new", { cwd: root, mcpServers: [] });
  const sessionId = readText(opened["sessionId"]);
  const prompt = { sessionId, prompt: [{ type: "text", text: "Go" }] };
  for (const _ of ["once", "again"]) await client.requestResult("session/prompt", prompt);
  return { client, text: (await listResults(sessionId)).join("\n") };
}

describe("Shells of a host", () => {
  it("The shells are requested once and run the session's commands [B-239] [B-243] [B-250]", async () => {
    const answer = { result: known("/usr/bin/bash", "/bin/sh") };
    const { client, text } = await prompted(world(), { answer });
    expect(text.match(/by \/usr\/bin\/bash/g)).toHaveLength(2);
    const calls = client.messages.filter(({ method }) => method === "host/call");
    expect(calls.map(({ params }) => params)).toEqual([{ name: "process.list_shells", args: {} }]);
  });

  it.each([
    ["does not support the method", { error: { code: -32601, message: "Method not found" } }],
    ["fails", { error: { code: -32603, message: "No idea" } }],
    ["sends an invalid list", { result: { shells: 7 } }],
  ])("Spanline's own shells are used if the host %s [B-238]", async (_, answer) => {
    const { text } = await prompted(world(), { answer });
    expect(text.match(/by \/bin\/sh/g)).toHaveLength(2);
  });

  it("A client that does not declare shells is not asked for them [W-29]", async () => {
    const { client, text } = await prompted(world(), { harn: {} });
    expect(text).toContain("by /bin/sh");
    expect(client.messages.some(({ method }) => method === "host/call")).toBe(false);
  });
});
