import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { WebSocket } from "ws";
import { listMachineAddresses } from "../../src/platform/machine-names.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

let places = 0;

/** Returns a new data directory. */
function newPlace(): string {
  places += 1;
  return join(command.folder, `place-${places}`);
}

/** Starts `serve` or `up` and waits until its address is printed. */
async function started(
  name: "serve" | "up",
  data: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
) {
  const commandArguments = [name, "--port", "0", "--json", "--data-dir", data, ...args];
  const child = command.start(commandArguments, { environment });
  onTestFinished(() => void child.kill("SIGKILL"));
  let notes = "";
  child.stderr.on("data", (piece) => (notes += String(piece)));
  const facts = JSON.parse(await waitForOutput(child.stdout, "}\n"));
  return { child, facts, url: String(facts.url), notes: () => notes };
}

interface AskOptions {
  readonly key?: string;
  readonly signal?: AbortSignal;
}

function ask(url: string, body: object, { key, signal }: AskOptions = {}): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
}

interface ResponseBody {
  readonly id: string;
  readonly session_id: string;
  readonly model: string;
  readonly status: string;
  readonly output: readonly unknown[];
}

async function readResponse(answer: Promise<Response>): Promise<ResponseBody> {
  return JSON.parse(await (await answer).text());
}

function textOf({ output }: ResponseBody): string {
  return JSON.stringify(output);
}

/** Writes a configuration with two agents: demo, and a second agent without invocations. */
function configWith(serve: object, demo: object = {}): string {
  const folder = newPlace();
  mkdirSync(folder);
  const file = join(folder, "team.json");
  const other = { provider: { type: "local", model: "ollama:none" } };
  const agents = { demo: { provider: { type: "demo" }, ...demo }, other };
  writeFileSync(file, JSON.stringify({ agents, serve }));
  return file;
}

/** Reads a stream until its text contains `words`, or to its end. */
async function streamed(response: Response, words?: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  if (response.body === null) return text;
  // Leaving a loop early would close the connection, and the bridge cancels the turn of a disconnected caller.
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    if (words !== undefined && text.includes(words)) return text;
  }
}

describe("spanline serve", () => {
  it("serve serves agents to an OpenAI client and keeps the conversation [OR-27, OR-69]", async () => {
    const { url, facts } = await started("serve", newPlace());
    expect(facts).toMatchObject({ isOwner: true, config: null, agents: ["demo"], needsKey: false });
    for (const base of [`${url}/v1`, url]) {
      const client = new OpenAI({ baseURL: base, apiKey: "none" });
      const first = await client.responses.create({ model: "demo", input: "My name is Ada" });
      const second = await client.responses.create({
        model: "demo",
        input: "What is my name?",
        previous_response_id: first.id,
      });
      expect(second.output_text).toContain("Ada");
      expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["demo"]);
      // A repeated read must not count as another turn.
      await streamed(await fetch(`${url}/v1/responses/${second.id}?stream=true`));
    }
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('spanline_turns_total{outcome="completed"} 4');
    expect(metrics).toMatch(/spanline_http_requests_total\{route="\/v1\/responses".*\} 2/);
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/api/sessions`)).status).toBe(404);
  });

  it("serve serves responses over a WebSocket and closes the connection when it ends [OR-76]", async () => {
    const { url, child } = await started("serve", newPlace());
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`);
    await once(socket, "open");
    const closed = once(socket, "close");
    const completed = new Promise<string>((resolve) => {
      socket.on("message", (data: Buffer) => {
        const output = data.toString();
        if (output.includes('"type":"response.completed"')) resolve(output);
      });
    });
    socket.send(JSON.stringify({ type: "response.create", model: "demo", input: "I am Ada" }));
    expect(JSON.parse(await completed)).toMatchObject({ response: { status: "completed" } });
    child.kill("SIGINT");
    expect(await closed).toEqual([1001, expect.anything()]);
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("With --access-log each request is logged without its contents [OR-72]", async () => {
    const { url, notes, child } = await started("serve", newPlace(), ["--access-log"]);
    const { session_id: id } = await readResponse(ask(url, { input: "The word is xyzzy" }));
    await fetch(`${url}/v1/responses/resp_${id}_3`);
    child.kill("SIGINT");
    await once(child, "close");
    const lines = notes()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    expect(lines.map(({ method, route, principal }) => ({ method, route, principal }))).toEqual([
      { method: "POST", route: "/v1/responses", principal: "local" },
      { method: "GET", route: "/v1/responses/:id", principal: "local" },
    ]);
    expect(notes()).not.toContain("xyzzy");
    expect(notes()).not.toContain(id);
  });

  it("The access log file contains only requests", async () => {
    await command.bundle("index.ts", "library/index.mjs");
    const tools = `import { defineTool } from "../library/index.mjs";
      const input = { type: "object", properties: {} };
      const run = () => { throw new Error("no weather is available", { cause: "nowhere" }); };
      const description = "Tells the weather in a city";
      export default [defineTool({ name: "get_weather", description, input, run })];`;
    const config = configWith({}, { approvals: { default: "allow" }, tools: ["./tools.mjs"] });
    writeFileSync(join(config, "..", "tools.mjs"), tools);
    const log = join(command.folder, "access.jsonl");
    writeFileSync(log, '{"before":true}\n');
    const args = ["--config", config, "--access-log", log];
    const { url, notes, child } = await started("serve", newPlace(), args);
    await readResponse(ask(url, { input: "Please get the weather" }));
    child.kill("SIGINT");
    await once(child, "close");
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { before: true },
      { status: 200 },
    ]);
    expect(notes()).toContain("The tool get_weather failed: no weather is available: nowhere\n");
    expect(notes()).toContain("Stopping.");
  });

  it("An access log that cannot be opened is refused with the reason", async () => {
    const log = join(command.folder, "none", "access.jsonl");
    const place = ["--port", "0", "--data-dir", newPlace()];
    const { status, stderr } = await command.run(["serve", ...place, "--access-log", log]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`ENOENT`)]);
    expect(stderr).toContain("access log");
  });

  it("Keys identify callers and separate their sessions [OR-36]", async () => {
    const config = configWith({
      keys: [
        { name: "ada", key: { env: "ADA_KEY" } },
        { name: "bob", key: "${BOB_KEY}-and-some-more-letters", agents: ["other"] },
      ],
    });
    const bob = "bob-and-some-more-letters";
    const environment = { ADA_KEY: "ada-has-a-key-of-her-own", BOB_KEY: "bob" };
    const { url, facts } = await started("serve", newPlace(), ["--config", config], environment);
    expect(facts).toMatchObject({ needsKey: true, agents: ["demo", "other"] });
    for (const key of ["none", undefined]) {
      const refused = await ask(url, { input: "Hello" }, key === undefined ? {} : { key });
      expect(refused.status).toBe(401);
      expect(await refused.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    }
    const own = ask(url, { input: "My name is Ada" }, { key: environment.ADA_KEY });
    const { id, session_id: session, model } = await readResponse(own);
    expect(model).toBe("demo");
    const goOn = { conversation: session, input: "What is my name?" };
    expect((await ask(url, goOn, { key: bob })).status).toBe(404);
    const read = { headers: { authorization: `Bearer ${bob}` } };
    expect((await fetch(`${url}/v1/responses/${id}`, read)).status).toBe(404);
    const models = await (await fetch(`${url}/v1/models`, read)).json();
    expect(models).toMatchObject({ data: [{ id: "other" }] });
    expect((await ask(url, { model: "demo", input: "Hi" }, { key: bob })).status).toBe(404);
    const again = ask(url, goOn, { key: environment.ADA_KEY });
    expect(textOf(await readResponse(again))).toContain("Ada");
  });

  it("Rates and body sizes are limited per caller [OR-71]", async () => {
    const config = configWith({ rates: { requestsPerMinute: 2 }, limits: { bodyBytes: 300 } });
    const { url } = await started("serve", newPlace(), ["--config", config]);
    const long = await ask(url, { input: "x".repeat(300) });
    expect(long.status).toBe(413);
    await fetch(`${url}/v1/models`);
    await fetch(`${url}/v1/models`);
    const third = await fetch(`${url}/v1/models`);
    expect(third.status).toBe(429);
    expect(third.headers.get("retry-after")).toBe("30");
  });

  it.each(["serve", "up"])("%s refuses other addresses without keys", async (name) => {
    const place = ["--port", "0", "--data-dir", newPlace()];
    const { status, stderr, stdout } = await command.run([name, "--host", "0.0.0.0", ...place]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("0.0.0.0");
    expect(stderr).toContain("serve.keys in the configuration, such as { name: ada,");
  });

  it("With keys, serve accepts other addresses", async () => {
    const config = configWith({ keys: [{ name: "ada", key: { env: "KEY" } }] });
    const KEY = "a-key-of-some-letters";
    const args = ["--host", "0.0.0.0", "--config", config];
    const { url, facts } = await started("serve", newPlace(), args, { KEY });
    expect((await ask(url, { input: "Hello" })).status).toBe(401);
    // A machine without a network has only this URL.
    for (const one of [url, ...facts.elsewhere]) {
      expect((await ask(one, { input: "Hello" }, { key: KEY })).status).toBe(200);
    }
  });

  it("serve prints the URLs for other machines", async () => {
    const config = configWith({ keys: [{ name: "ada", key: { env: "KEY" } }] });
    const place = ["--port", "0", "--host", "0.0.0.0", "--data-dir", newPlace()];
    const environment = { KEY: "a-key-of-some-letters" };
    const child = command.start(["serve", ...place, "--config", config], { environment });
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = await waitForOutput(child.stdout, "Ctrl-C");
    for (const address of listMachineAddresses().filter((one) => !one.includes(":"))) {
      expect(output).toMatch(new RegExp(`Other machines .*http://${address}:\\d+/v1`));
    }
  });

  it("A key without a value is refused with its path", async () => {
    const config = configWith({ keys: [{ name: "ada", key: { env: "NOT_SET" } }] });
    const place = ["--port", "0", "--data-dir", newPlace()];
    const { status, stderr } = await command.run(["serve", "--config", config, ...place]);
    expect(status).toBe(2);
    expect(stderr).toContain(`${config}: serve.keys[0].key has no value`);
  });

  it("serve joins the process that runs the sessions and shares them", async () => {
    const place = newPlace();
    const owner = await started("up", place);
    const joined = await started("serve", place);
    expect(joined.facts).toMatchObject({ isOwner: false, ownerPid: owner.child.pid });
    const conversation = owner.facts.sessionId;
    await readResponse(ask(joined.url, { conversation, input: "My name is Ada" }));
    const question = { conversation, input: "What is my name?" };
    expect(textOf(await readResponse(ask(owner.url, question)))).toContain("Ada");
    owner.child.kill("SIGKILL");
    await once(owner.child, "exit");
    expect(textOf(await readResponse(ask(joined.url, question)))).toContain("Ada");
  });

  it("On a loopback address, an unknown upstream session is adopted", async () => {
    const { url } = await started("serve", newPlace());
    const conversation = "a-session-that-somebody-began-elsewhere";
    const adopted = await ask(url, { conversation, input: "Hello" });
    expect(await adopted.json()).toMatchObject({ session_id: conversation });
    const strict = await started("serve", newPlace(), [
      "--config",
      configWith({ adoptSessions: false }),
    ]);
    expect((await ask(strict.url, { conversation, input: "Hello" })).status).toBe(404);
  });

  it("serve ends its streams before it exits, and the turn continues after the next start", async () => {
    const place = newPlace();
    const first = await started("serve", place);
    const response = await ask(first.url, { input: "Please save a note: buy milk", stream: true });
    const id = response.headers.get("x-spanline-session");
    const reading = streamed(response);
    await eventually(async () => {
      const shownEvents = await command.run([
        "sessions",
        "show",
        "latest",
        "--events",
        "-d",
        place,
      ]);
      expect(shownEvents.stdout).toContain("approval.requested");
    });
    first.child.kill("SIGINT");
    expect(await once(first.child, "exit")).toEqual([0, null]);
    const text = await reading;
    expect(text).toContain("event: response.failed");
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(first.notes()).not.toContain("Error");
    const next = await started("serve", place);
    const [, responseId] = /"id":"(resp_[^"]+)"/.exec(text) ?? [];
    const stands = await (await fetch(`${next.url}/v1/responses/${responseId}`)).json();
    expect(stands).toMatchObject({ status: "in_progress", session_id: id });
  });

  it("A response survives a kill in the middle of its stream [OR-41]", async () => {
    const place = newPlace();
    const first = await started("serve", place);
    const response = await ask(first.url, { input: "My name is Ada", stream: true });
    const text = await streamed(response, "response.output_text.delta");
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    const [, id] = /"id":"(resp_[^"]+)"/.exec(text) ?? [];
    const next = await started("serve", place);
    const found = await eventually(async () => {
      const stored = await readResponse(fetch(`${next.url}/v1/responses/${id}`));
      expect(stored.status).toBe("completed");
      return stored;
    });
    expect(textOf(found)).toContain("Ada");
    const again = ask(next.url, { previous_response_id: id, input: "What is my name?" });
    expect(textOf(await readResponse(again))).toContain("Ada");
  });

  it("With `deterministic`, every run returns the same bytes [OR-78]", async () => {
    const config = configWith({ deterministic: true });
    const runs = [];
    for (let run = 0; run < 2; run++) {
      const { url, child } = await started("serve", newPlace(), ["--config", config]);
      const bodies = [];
      let previous = {};
      for (const input of ["My name is Ada", "What is my name?", "Tell me a story"]) {
        const body = await (await ask(url, { ...previous, input })).text();
        bodies.push(body);
        previous = { previous_response_id: JSON.parse(body).id };
      }
      bodies.push(await streamed(await ask(url, { input: "Hello", stream: true })));
      runs.push(bodies);
      child.kill("SIGINT");
      await once(child, "exit");
    }
    expect(runs[1]).toEqual(runs[0]);
  });
});

describe("spanline up", () => {
  it("up prints five ways to use one session", async () => {
    const place = newPlace();
    const child = command.start(["up", "--port", "0", "--data-dir", place]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const output = await waitForOutput(child.stdout, "Ctrl-C");
    const [, url = ""] = /curl -N (\S+) /.exec(output) ?? [];
    const [, body = "{}"] = /-d '(.*)'\n/.exec(output) ?? [];
    const [, session] = /\/sessions\/(\w+)\?token/.exec(output) ?? [];
    expect(url).toMatch(/\/v1\/responses$/);
    expect(JSON.parse(body)).toMatchObject({ conversation: session, stream: true });
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...JSON.parse(body), input: "Hello" }),
    });
    expect(await streamed(response)).toContain("response.completed");
    const [, agentUrl = "", contextId] = /(\S+\/a2a) \(A2A, contextId (\S+)\)/.exec(output) ?? [];
    const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "Hello" }], contextId };
    const sent = await fetch(agentUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
    });
    expect(await sent.json()).toMatchObject({
      result: { task: { contextId: session, status: { state: "TASK_STATE_COMPLETED" } } },
    });
    const ways = [...output.matchAll(/ (chat|acp) --session (\S+) --data-dir (\S+)\n/g)];
    expect(ways.map(([, ...way]) => way)).toEqual([
      ["chat", session, place],
      ["acp", session, place],
    ]);
  });

  it("up opens its first session in the folder where it was started", async () => {
    const place = newPlace();
    const workingDirectory = join(command.folder, "started-here");
    mkdirSync(workingDirectory);
    const child = command.start(["up", "--port", "0", "--json", "-d", place], { workingDirectory });
    onTestFinished(() => void child.kill("SIGKILL"));
    const { sessionId } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
    const resume = ["chat", "--resume", "-d", place];
    const here = await command.run(resume, { workingDirectory, input: "What is 2 + 3?\n" });
    expect(here).toMatchObject({ stdout: "That is 5.\n", status: 0 });
    expect(here.stderr).toContain(`chat --session ${sessionId} `);
    expect((await command.run(resume, { input: "Hi\n" })).status).toBe(2);
  });
});
