import { describe, expect, it } from "vitest";
import type { LinkState } from "../host/index.ts";
import { scriptedRuntime } from "../host/testing.ts";
import { createClient } from "../host/index.ts";
import { chatLink } from "./chat-link.ts";

const LOST: LinkState = { type: "lost", error: new Error("refused"), retryMs: 1 };
const CLOSED: LinkState = { type: "closed", error: new Error("refused") };

/** As the first connection to an agent tells it. */
async function connected(): Promise<Extract<LinkState, { type: "connected" }>> {
  const client = createClient(scriptedRuntime({}).connect);
  const agent = await client.initialize();
  await client.close();
  return { type: "connected", agent, isAgain: false };
}

describe("what a chat says of its connection", () => {
  it("is said once for each loss, however often it is tried again", async () => {
    const first = await connected();
    const again = { ...first, isAgain: true };
    const link = chatLink("the bridge at ws://b");
    const said = [first, LOST, LOST, LOST, again, LOST, LOST, CLOSED].map(
      (state) => link.heard(state)?.text,
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
    const link = chatLink("the bridge");
    expect(link.heard(CLOSED)).toBeUndefined();
    expect(link.isLost).toBe(false);
  });
});
