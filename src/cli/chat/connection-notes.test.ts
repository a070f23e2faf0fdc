import { describe, expect, it } from "vitest";
import type { ConnectionState } from "../../host/index.ts";
import { createScriptedRuntime } from "../../host/testing.ts";
import { createClient } from "../../host/index.ts";
import { createConnectionNotes } from "./connection-notes.ts";

const LOST: ConnectionState = { type: "lost", error: new Error("refused"), retryMs: 1 };
const CLOSED: ConnectionState = { type: "closed", error: new Error("refused") };

/** As the first connection to an agent tells it. */
async function connected(): Promise<Extract<ConnectionState, { type: "connected" }>> {
  const client = createClient(createScriptedRuntime({}).connect);
  const agent = await client.initialize();
  await client.close();
  return { type: "connected", agent, isReconnect: false };
}

describe("what a chat says of its connection", () => {
  it("is said once for each loss, however often it is tried again", async () => {
    const first = await connected();
    const again = { ...first, isReconnect: true };
    const link = createConnectionNotes("the bridge at ws://b");
    const said = [first, LOST, LOST, LOST, again, LOST, LOST, CLOSED].map(
      (state) => link.update(state)?.text,
    );
    expect(said).toEqual([
      undefined,
      "The connection is lost. Waiting for the bridge at ws://b …",
      undefined,
      undefined,
      "Connected again.",
      "The connection is lost. Waiting for the bridge at ws://b …",
      undefined,
      "There is no connection any more: refused",
    ]);
  });

  it("is nothing of a first connection that fails: whoever wanted it hears why", () => {
    const link = createConnectionNotes("the bridge");
    expect(link.update(CLOSED)).toBeUndefined();
    expect(link.isLost).toBe(false);
  });
});
