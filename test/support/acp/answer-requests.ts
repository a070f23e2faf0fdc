import type { JsonValue } from "../../../src/data/json.ts";
import type { AcpPeer, Message } from "./acp-client.ts";

/** Replies to all requests of a method from now on. Undefined leaves a request without a reply. */
export function answerRequests(
  client: Pick<AcpPeer, "send" | "waitForMessage">,
  method: string,
  answer: (request: Message) => object | undefined,
): void {
  const answered = new Set<JsonValue>();
  const isNew = (message: Message): boolean =>
    message["method"] === method && !answered.has(message["id"] ?? null);
  const next = async (): Promise<void> => {
    for (;;) {
      const request = await client.waitForMessage(isNew);
      answered.add(request["id"] ?? null);
      const reply = answer(request);
      if (reply !== undefined) client.send({ jsonrpc: "2.0", id: request["id"], ...reply });
    }
  };
  // Spanline may send no further request.
  next().catch(() => {});
}
