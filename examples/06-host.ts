// A host in front of an agent: a tool that runs here, a person who is asked, and what the agent says as it comes. Run by
// the tests.

import assert from "node:assert/strict";
import {
  createClient,
  createHost,
  formatPermissionRequest,
  type Connect,
} from "../src/host/index.ts";

/** `connect` makes a connection, and another one when that is lost; docs/host-sdk.md has some. */
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
