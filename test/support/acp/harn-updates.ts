import type { AcpPeer, Message } from "./acp-client.ts";

/** The received vendor updates with a name, in order. */
export function findHarnUpdates(client: AcpPeer, name: string): readonly Message[] {
  return client.listUpdates().filter(({ sessionUpdate }) => sessionUpdate === name);
}

/** Attaches as a bridge host, sends a prompt and waits for its end. Returns the session. */
export async function promptOnce(client: AcpPeer): Promise<string> {
  const sessionId = await client.newSession();
  await client.requestResult("session/attach", {
    sessionId,
    clientId: "host",
    mode: "controller",
  });
  const prompt = [{ type: "text", text: "Go" }];
  await client.requestResult("session/prompt", { sessionId, prompt });
  return sessionId;
}
