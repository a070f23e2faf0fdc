// A host for an agent: a tool which runs here, a decision about an approval, and the agent's text as it arrives. The
// test suite runs this example.

import assert from "node:assert/strict";
import {
  createClient,
  createHost,
  formatPermissionRequest,
  type Connect,
} from "../src/host/index.ts";

/**
 * `connect` opens a connection, and is called again after the connection is lost. docs/host-sdk.md lists transports.
 */
export async function talkAsHost(connect: Connect, write: (text: string) => void): Promise<void> {
  const host = createHost({
    permission(question) {
      for (const line of formatPermissionRequest(question)) write(`? ${line}\n`);
      return question.approval.action === "save_note" ? "allow" : "deny";
    },
    tools: [
      {
        name: "open_file",
        description: "Reveals a file in the editor",
        schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        run: ({ path }) => ({ opened: path ?? null }),
      },
    ],
  });

  const client = createClient(connect, {
    host,
    info: { name: "example", version: "1.0.0" },
    onState: ({ type }) => write(`(${type})\n`),
  });
  try {
    const { sessionId } = await client.newSession({ workingDirectory: process.cwd() });
    const run = client.prompt(sessionId, "Please save a note: buy milk");
    for await (const update of run) {
      if (update.type === "agent-text") write(update.text);
      if (update.type === "tool" && update.isNew) write(`\n→ ${update.title ?? "a tool"}\n`);
    }
    const { reason } = await run.result;
    assert.equal(reason, "end_turn");
    write("\n");
  } finally {
    await client.close();
  }
}
