import { describe, expect, it } from "vitest";
import { ClientFactory, JsonRpcTransportFactory } from "a2a-sdk-v03/client";
import { hangs, says } from "../support/session/scripted-provider.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { createMessage, serveA2a, type ServedA2a } from "./support/serve-a2a.ts";
import { startReceiver } from "./support/start-receiver.ts";

const KEYS = [
  { name: "ada", key: "key-of-ada-000000001", rights: ["prompt"] },
  { name: "bob", key: "key-of-bob-000000001", rights: ["prompt"] },
  { name: "ada", key: "key-of-ada-000000002", rights: ["approve"] },
] as const;
const asCaller = (at: 0 | 1 | 2) => ({ authorization: `Bearer ${KEYS[at].key}` });

const SECRETS = {
  token: "token-of-the-task",
  authentication: { scheme: "Bearer", credentials: "credentials-of-the-peer" },
};

/** Starts a task which works until the test ends. */
async function begin(served: ServedA2a, headers: { [name: string]: string } = {}) {
  const params = { message: createMessage("Go"), configuration: { returnImmediately: true } };
  return (await served.rpc("SendMessage", params, headers)).result.task;
}

describe.each(["JSONRPC", "HTTP+JSON"] as const)("The official client over %s", (binding) => {
  it("A config is created, read, listed, replaced and deleted, and its secrets are not returned", async () => {
    const { url } = await startReceiver();
    const served = await serveA2a([hangs("Half")], { push: {} });
    const client = await served.connect(binding);
    const { id: taskId } = await begin(served);
    const created = await client.createTaskPushNotificationConfig({
      tenant: "",
      id: "mine/1",
      taskId,
      url,
      ...SECRETS,
    });
    const authentication = { scheme: "Bearer", credentials: "" };
    const expected = { tenant: "", id: "mine/1", taskId, url, token: "", authentication };
    expect(created).toEqual(expected);
    const place = { tenant: "", taskId, id: "mine/1" };
    expect(await client.getTaskPushNotificationConfig(place)).toEqual(expected);
    const query = { tenant: "", taskId, pageSize: 0, pageToken: "" };
    const plain = { tenant: "", id: "", taskId, token: "", authentication: undefined };
    const unnamed = await client.createTaskPushNotificationConfig({ ...plain, url });
    expect(unnamed.id).toMatch(/^push-[0-9a-f]{24}$/);
    const replaced = { ...plain, id: "mine/1", url: `${url}/2` };
    await client.createTaskPushNotificationConfig(replaced);
    const { configs } = await client.listTaskPushNotificationConfig(query);
    expect(configs).toEqual([replaced, unnamed]);
    await client.deleteTaskPushNotificationConfig(place);
    await client.deleteTaskPushNotificationConfig(place);
    await expect(client.getTaskPushNotificationConfig(place)).rejects.toMatchObject({
      name: "TaskNotFoundError",
    });
    expect((await client.listTaskPushNotificationConfig(query)).configs).toEqual([unnamed]);
  });
});

it("A client of version 0.3 creates, reads, lists and deletes a config, whose id is the id of the task by default", async () => {
  const { url, received } = await startReceiver();
  const served = await serveA2a([hangs("Half")], { push: {} });
  const transports = [new JsonRpcTransportFactory({ fetchImpl: served.fetch })];
  const client = await new ClientFactory({ transports }).createFromUrl(served.url);
  const { id: taskId } = await begin(served);
  const authentication = { schemes: ["Bearer", "Basic"], credentials: "c" };
  const config = { url, token: "t", authentication };
  const created = await client.setTaskPushNotificationConfig({
    taskId,
    pushNotificationConfig: config,
  });
  const expected = {
    taskId,
    pushNotificationConfig: { id: taskId, url, authentication: { schemes: ["Bearer"] } },
  };
  expect(created).toEqual(expected);
  expect(await client.getTaskPushNotificationConfig({ id: taskId })).toEqual(expected);
  expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([expected]);
  await waitUntil(() => received.length === 1);
  expect(received[0]?.json).toMatchObject({ kind: "task", id: taskId });
  await client.deleteTaskPushNotificationConfig({ id: taskId, pushNotificationConfigId: taskId });
  expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([]);
});

describe("Access to configs", () => {
  it("The config of another caller cannot be read, listed, replaced or deleted", async () => {
    const { url } = await startReceiver();
    const served = await serveA2a([hangs("Half")], { keys: KEYS, push: {} });
    const { id: taskId } = await begin(served, asCaller(0));
    const params = { taskId, id: "c", url };
    await served.rpc("CreateTaskPushNotificationConfig", params, asCaller(0));
    for (const method of [
      "CreateTaskPushNotificationConfig",
      "GetTaskPushNotificationConfig",
      "ListTaskPushNotificationConfigs",
      "DeleteTaskPushNotificationConfig",
    ])
      expect((await served.rpc(method, params, asCaller(1))).error, method).toMatchObject({
        code: -32001,
      });
    const { result } = await served.rpc("GetTaskPushNotificationConfig", params, asCaller(0));
    expect(result).toEqual(params);
  });

  it("A key without the right to prompt cannot create a config for a task of its owner", async () => {
    const { url } = await startReceiver();
    const served = await serveA2a([hangs("Half")], { keys: KEYS, push: {} });
    const { id: taskId } = await begin(served, asCaller(0));
    const params = { taskId, url };
    const reply = await served.rpc("CreateTaskPushNotificationConfig", params, asCaller(2));
    expect(reply.error).toMatchObject({ data: [{ reason: "PERMISSION_DENIED" }] });
  });
});

describe("A config is refused", () => {
  const LONG = "x".repeat(5000);

  it.each([
    ["no URL", {}, "params.url"],
    ["a URL that is too long", { url: `https://8.8.8.8/${LONG}` }, "params.url"],
    ["text that is not a URL", { url: "peer" }, "expected an https URL"],
    ["another scheme", { url: "ftp://8.8.8.8/" }, "expected an https URL"],
    ["a URL without encryption", { url: "http://8.8.8.8/" }, "expected an https URL"],
    ["a user name in the URL", { url: "https://ada:pw@8.8.8.8/" }, "without a user name"],
    ["an address of this machine", { url: "https://127.0.0.1/" }, "public address"],
    ["the same address in another notation", { url: "https://0x7f.1/" }, "public address"],
    ["an address of IPv6", { url: "https://[::ffff:10.0.0.1]/" }, "public address"],
    ["the address of metadata in clouds", { url: "https://169.254.169.254/" }, "public address"],
    ["a name of this machine", { url: "https://localhost/" }, "public address"],
    ["an id that is too long", { url: "https://8.8.8.8/", id: LONG }, "params.id"],
    ["a token that is too long", { url: "https://8.8.8.8/", token: LONG }, "params.token"],
    ["a token of two lines", { url: "https://8.8.8.8/", token: "secret\nx: y" }, "params.token"],
    [
      "credentials of two lines",
      {
        url: "https://8.8.8.8/",
        authentication: { scheme: "Bearer", credentials: "secret\r\nx: y" },
      },
      "params.authentication.credentials",
    ],
    [
      "a scheme that is not a word",
      { url: "https://8.8.8.8/", authentication: { scheme: "Bearer x", credentials: "secret" } },
      "params.authentication.scheme",
    ],
  ])("With %s, and the error contains no secret", async (_, fields, text) => {
    const served = await serveA2a([hangs("Half")], { push: { allowPrivate: false } });
    const { id: taskId } = await begin(served);
    const params = { taskId, ...fields };
    const { error } = await served.rpc("CreateTaskPushNotificationConfig", params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(text) });
    expect(error.message).not.toMatch(/secret|ada:pw/);
    const listed = await served.rpc("ListTaskPushNotificationConfigs", { taskId });
    expect(listed.result.configs).toEqual([]);
  });

  it("A message with a refused config starts no task", async () => {
    const served = await serveA2a([says("Hi")], { push: { allowPrivate: false } });
    const configuration = { taskPushNotificationConfig: { url: "https://10.0.0.1/" } };
    const reply = await served.rpc("SendMessage", { message: createMessage("Hi"), configuration });
    expect(reply.error).toMatchObject({ code: -32602 });
    expect((await served.sessions.list({ limit: 1 })).sessions).toEqual([]);
  });

  it("A task has at most 10 configs, and replacing one of them is allowed", async () => {
    const { url } = await startReceiver();
    const served = await serveA2a([hangs("Half")], { push: {} });
    const { id: taskId } = await begin(served);
    const create = (id: string) =>
      served.rpc("CreateTaskPushNotificationConfig", { taskId, id, url });
    for (let at = 0; at < 10; at += 1) expect(await create(`c${at}`)).toHaveProperty("result");
    expect((await create("c10")).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("10 push notification configs, which is the limit"),
    });
    expect(await create("c3")).toHaveProperty("result");
  });

  it("A caller has at most 100 configs of working tasks, and a config of an ended task does not count", async () => {
    const { url, received } = await startReceiver();
    const scripts = [says("Done"), ...Array.from({ length: 11 }, () => hangs("Half"))];
    const served = await serveA2a(scripts, { push: {} });
    const create = (taskId: string, id: string) =>
      served.rpc("CreateTaskPushNotificationConfig", { taskId, id, url });
    const ended = (await served.rpc("SendMessage", { message: createMessage("Go") })).result.task;
    await create(ended.id, "ended");
    await waitUntil(() => received.length === 1);
    for (let task = 0; task < 10; task += 1) {
      const { id } = await begin(served);
      for (let at = 0; at < 10; at += 1)
        expect(await create(id, `c${at}`)).toHaveProperty("result");
    }
    const { id } = await begin(served);
    expect((await create(id, "c")).error).toMatchObject({
      message: expect.stringContaining("100 push notification configs, which is the limit"),
    });
  });
});
