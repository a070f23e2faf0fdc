import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTemporaryFolder } from "../support/session/test-workspace.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { says } from "../support/session/scripted-provider.ts";
import { readAllEvents } from "./support/read-events.ts";
import { createMessage, serveA2a } from "./support/serve-a2a.ts";
import { startReceiver } from "./support/start-receiver.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/a2a.md"), "utf8");

/** The cells of the table of operations. */
const rows = (page.split("## Operations")[1] ?? "")
  .split("## States")[0]
  ?.split("\n")
  .filter((line) => /^\| (?!operation|---)/.test(line))
  .map((line) => line.split("|").slice(1, -1));

it("The example request of docs/a2a.md streams a task to its end", async () => {
  const body = /-d '(\{[\s\S]*?\})'\n```/.exec(page)?.[1] ?? "";
  const served = await serveA2a([says("Hello!")]);
  const events = await readAllEvents(await served.open(JSON.parse(body)));
  expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
});

it("Every method and every path in the table of docs/a2a.md exists", async () => {
  const served = await serveA2a([says("Hello!")]);
  expect(rows).toHaveLength(11);
  let checked = 0;
  for (const [, rpc = "", legacy = "", http = ""] of rows ?? []) {
    for (const [, method = ""] of `${rpc}${legacy}`.matchAll(/`([A-Za-z/]+)`/g)) {
      checked += 1;
      expect((await served.rpc(method, {})).error?.code, method).not.toBe(-32601);
    }
    const [, verbs = "", path = ""] = /^ `?(.*?) `?(\/a2a\S*?)` $/.exec(http) ?? [];
    for (const [method] of verbs.matchAll(/GET|POST|DELETE/g)) {
      const init =
        method === "POST" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
      const response = await served.fetch(`${served.url}${path}`, { method, ...init });
      expect(await response.text(), `${method} ${path}`).not.toContain("METHOD_NOT_FOUND");
      checked += 1;
    }
  }
  // 11 methods of 1.0, 10 of 0.3, and 12 requests of HTTP.
  expect(checked).toBe(33);
});

it("The function in docs/a2a.md accepts push notifications of the documented request, and rejects a changed or old one", async () => {
  const [, source = ""] = /```ts\n(import \{ createPublicKey[\s\S]*?)```/.exec(page) ?? [];
  const file = join(createTemporaryFolder(), "is-from-server.ts");
  writeFileSync(file, source);
  const { isFromServer } = await import(file);
  const [, json = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const { url, received } = await startReceiver();
  const served = await serveA2a([says("Hello!")], { push: {} });
  await served.rpc("SendMessage", JSON.parse(json.replace("https://peer.example/a2a", url)));
  await waitUntil(() => received.length === 4);
  const { keys } = await (await fetch(`${served.url}/.well-known/jwks.json`)).json();
  for (const { body, headers } of received) {
    const sent = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(sent.get("authorization")).toBe("Bearer key-of-the-peer");
    expect(isFromServer(body, sent, keys)).toBe(true);
    expect(isFromServer(`${body} `, sent, keys)).toBe(false);
    expect(isFromServer(body, sent, [])).toBe(false);
    sent.set("spanline-timestamp", String(Number(sent.get("spanline-timestamp")) - 301));
    expect(isFromServer(body, sent, keys)).toBe(false);
  }
});

it("Every header in the table of docs/a2a.md is sent", async () => {
  const names = [...page.matchAll(/^\| `([a-z0-9]+-[a-z0-9-]+|authorization)` \|/gm)].map(
    ([, name = ""]) => name,
  );
  const { url, received } = await startReceiver();
  const served = await serveA2a([says("Hello!")], { push: {} });
  const authentication = { scheme: "Bearer", credentials: "c" };
  const configuration = { taskPushNotificationConfig: { url, token: "t", authentication } };
  await served.rpc("SendMessage", { message: createMessage("Hi"), configuration });
  await waitUntil(() => received.length === 4);
  expect(names).toHaveLength(8);
  expect(Object.keys(received[0]?.headers ?? {})).toEqual(expect.arrayContaining(names));
});
