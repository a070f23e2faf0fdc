import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { serveBridge } from "../../src/bridge/serve/serve-bridge.ts";
import { DEFAULT_SERVE_CONFIG } from "../../src/config/default-serve-config.ts";
import type { PushSettings } from "../../src/domain/a2a-settings.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createScriptedProvider, says } from "../support/session/scripted-provider.ts";
import { createTemporaryFolder } from "../support/session/test-workspace.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { createMessage } from "./support/serve-a2a.ts";
import { startReceiver } from "./support/start-receiver.ts";

const KEY = "key-of-ada-000000001";

/** Serves a bridge with these settings, with or without keys. */
async function serve(push: PushSettings | undefined, hasKeys: boolean) {
  const provider = createScriptedProvider([says("Hi")]);
  const agent = defineAgent({ name: "scripted", provider });
  const bridge = await serveBridge(
    {
      directory: join(createTemporaryFolder(), "data"),
      version: "1",
      clock: systemClock,
      agents: async () => ({ agents: [agent], close: async () => {} }),
      serving: {
        ...DEFAULT_SERVE_CONFIG,
        keys: hasKeys ? [{ name: "ada", key: KEY }] : [],
        a2a: push === undefined ? {} : { push },
      },
      port: 0,
      report: (error) => {
        throw error;
      },
    },
    { portal: false },
  );
  onTestFinished(() => bridge.close());
  const send = async (url: string) => {
    const configuration = { taskPushNotificationConfig: { url } };
    const params = { message: createMessage("Go"), configuration };
    const response = await fetch(`${bridge.url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
    });
    return response.json();
  };
  const card = await (await fetch(`${bridge.url}/.well-known/agent-card.json`)).json();
  const keys = await fetch(`${bridge.url}/.well-known/jwks.json`);
  return { send, isOffered: card.capabilities.pushNotifications, keys: keys.status };
}

it.each<[settings: string, PushSettings | undefined, hasKeys: boolean, isOffered: boolean]>([
  ["keys", undefined, true, true],
  ["keys, if they are disabled", { enabled: false }, true, false],
  ["no keys", undefined, false, false],
  ["no keys, if they are configured", {}, false, true],
])(
  "With %s, the card says whether push notifications are sent",
  async (_, push, hasKeys, isOffered) => {
    const served = await serve(push, hasKeys);
    expect([served.isOffered, served.keys]).toEqual([isOffered, isOffered ? 200 : 404]);
    const { error } = await served.send("https://127.0.0.1/");
    expect(error).toMatchObject({ code: isOffered ? -32602 : -32003 });
  },
);

it("A served bridge sends push notifications to a private address if the configuration allows it", async () => {
  const { url, received } = await startReceiver();
  const served = await serve({ allowPrivate: true }, true);
  expect((await served.send(url)).result.task.status.state).toBe("TASK_STATE_COMPLETED");
  await waitUntil(() => received.length === 4);
});
