import { onTestFinished } from "vitest";
import { isObject, parseJson } from "../../../src/data/json.ts";
import { createAcpPeer, type AcpPeer } from "./acp-client.ts";
import { TOKEN, type AcpServer } from "./acp-server.ts";

/**
 * An ACP client over HTTP: it posts each message, and reads the stream of the connection and the streams of its
 * sessions. The first message must be `initialize`.
 */
export function connectHttpPeer({ url }: Pick<AcpServer, "url">): AcpPeer {
  const headers: { [name: string]: string } = { authorization: `Bearer ${TOKEN}` };
  const controller = new AbortController();
  const sessionIds = new Set<string>();
  let posted: Promise<void> = Promise.resolve();
  const { take: takeMessage, ...peer } = createAcpPeer((text) => {
    posted = posted.then(() => post(text));
    posted.catch(() => {});
  });
  onTestFinished(async () => {
    controller.abort();
    await posted;
  });

  async function post(text: string): Promise<void> {
    const sessionId = readSession(text, "params");
    if (sessionId !== undefined) openStream(sessionId);
    const response = await fetch(`${url}/acp`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: text,
    });
    const body = await response.text();
    const connectionId = response.headers.get("acp-connection-id");
    if (connectionId === null) return;
    headers["acp-connection-id"] = connectionId;
    openStream();
    takeMessage(body);
  }

  function openStream(sessionId?: string): void {
    if (sessionIds.has(sessionId ?? "")) return;
    sessionIds.add(sessionId ?? "");
    const session = sessionId === undefined ? {} : { "acp-session-id": sessionId };
    readStream({ accept: "text/event-stream", ...headers, ...session }).catch(() => {});
  }

  async function readStream(streamHeaders: { readonly [name: string]: string }): Promise<void> {
    const { body } = await fetch(`${url}/acp`, {
      headers: streamHeaders,
      signal: controller.signal,
    });
    let rest = "";
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data: ")) take(line.slice("data: ".length));
    }
  }

  function take(text: string): void {
    const sessionId = readSession(text, "result");
    if (sessionId !== undefined) openStream(sessionId);
    takeMessage(text);
  }

  return peer;
}

function readSession(text: string, key: "params" | "result"): string | undefined {
  const parsed = parseJson(text);
  const fields = parsed.ok && isObject(parsed.value) ? parsed.value[key] : undefined;
  const sessionId = isObject(fields) ? fields["sessionId"] : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}
