import { describe, expect, it } from "vitest";
import type { ConnectionState } from "../../host/index.ts";
import { createScriptedRuntime } from "../../host/testing.ts";
import { createClient } from "../../host/index.ts";
import { createConnectionNotes } from "./connection-notes.ts";

const LOST: ConnectionState = { type: "lost", error: new Error("refused"), retryMs: 1 };
const CLOSED: ConnectionState = { type: "closed", error: new Error("refused") };

/** Returns the state of a first connection to an agent. */
async function connected(): Promise<Extract<ConnectionState, { type: "connected" }>> {
  const client = createClient(createScriptedRuntime({}).connect);
  const agent = await client.initialize();
  await client.close();
  return { type: "connected", agent, isReconnect: false };
}

describe("Notes about the connection of a chat", () => {
  it("Each connection loss is reported once, however many retries follow", async () => {
    const first = await connected();
    const again = { ...first, isReconnect: true };
    const link = createConnectionNotes("the bridge at ws://b");
    const notes = [first, LOST, LOST, LOST, again, LOST, LOST, CLOSED].map(
      (state) => link.update(state)?.text,
    );
    expect(notes).toEqual([
      undefined,
      "The connection is lost. Waiting for the bridge at ws://b …",
      undefined,
      undefined,
      "Connected again.",
      "The connection is lost. Waiting for the bridge at ws://b …",
      undefined,
      "The connection is closed: refused",
    ]);
  });

  it("A failed first connection causes no note, because the caller receives the error", () => {
    const link = createConnectionNotes("the bridge");
    expect(link.update(CLOSED)).toBeUndefined();
    expect(link.isLost).toBe(false);
  });
});
