import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readAllEvents, type SentEvent } from "../a2a/support/read-events.ts";
import { startReceiver, type ReceivedPush, type Receiver } from "../a2a/support/start-receiver.ts";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import { allowLongTests, testDepth } from "../support/test-depth.ts";
import { withDeadline } from "../support/with-deadline.ts";
import { startA2aBridge, type A2aBridge } from "./a2a-bridge.ts";

allowLongTests(900_000);

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** The moment of a kill: before or after the response of the receiver. */
type KillMoment = "before" | "after";

/** A bridge which is killed and started again at notifications of its receiver. */
class KilledBridge {
  readonly #directory: string;
  readonly #start: () => Promise<A2aBridge>;
  #current: Promise<A2aBridge>;
  /** Kills by the number of the notification in the round. */
  #plan = new Map<number, KillMoment>();
  #arrivals = 0;
  #name = "";
  #finish: () => void = () => {};
  #fail: (error: unknown) => void = () => {};
  taskId = "";
  kills = 0;

  constructor(directory: string, start: () => Promise<A2aBridge>) {
    this.#directory = directory;
    this.#start = start;
    this.#current = start();
  }

  /** Runs a task to its end. Resolves when the receiver has acknowledged the end. */
  async run(name: string, plan: ReadonlyMap<number, KillMoment>, url: string): Promise<void> {
    this.#plan = new Map(plan);
    this.#arrivals = 0;
    this.#name = name;
    const over = new Promise<void>((resolve, reject) => {
      this.#finish = resolve;
      this.#fail = reject;
    });
    const parts = [{ text: `Please save a note: ${name}` }];
    const message = { messageId: `${name}-start`, role: "ROLE_USER", parts };
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url } };
    this.taskId = (await this.request("SendMessage", { message, configuration })).task.id;
    await over;
  }

  /** Handles a notification like a peer: kills the bridge at the planned moments, and decides requests. */
  handle(push: ReceivedPush, response: ServerResponse): void {
    this.#handle(push, response).catch((error: unknown) => this.#fail(error));
  }

  async #handle({ json }: ReceivedPush, response: ServerResponse): Promise<void> {
    this.#arrivals += 1;
    const moment = this.#plan.get(this.#arrivals);
    if (moment === "before") return this.#restart();
    response.writeHead(204).end();
    if (moment === "after") await this.#restart();
    const { state, message } = json.statusUpdate?.status ?? {};
    if (state === "TASK_STATE_INPUT_REQUIRED") await this.#decide(message);
    if (state === "TASK_STATE_COMPLETED") this.#finish();
  }

  async #restart(): Promise<void> {
    this.kills += 1;
    const killed = await this.#current;
    this.#current = killed.kill().then(this.#start);
    await this.#current;
  }

  /** Sends a request, again to the next process if a kill interrupts the request. */
  // oxlint-disable-next-line typescript/no-explicit-any
  async request(method: string, params: object): Promise<any> {
    for (;;) {
      const bridge = await this.#current;
      try {
        const reply = await (await bridge.post(method, params)).json();
        if (reply.error === undefined) return reply.result;
        throw new Error(JSON.stringify(reply.error));
      } catch (error) {
        if ((await this.#current) === bridge) throw error;
      }
    }
  }

  async #decide({
    messageId,
    parts,
  }: {
    readonly messageId: string;
    readonly parts: readonly { readonly data?: { readonly options: readonly string[] } }[];
  }): Promise<void> {
    const options = parts.flatMap(({ data }) => data?.options ?? []);
    const interrupted = this.readNotes().includes(this.#name) ? "done" : "run-again";
    const text = options.includes("allow") ? "allow" : interrupted;
    const message = {
      messageId: `${this.#name}-${messageId}`,
      taskId: this.taskId,
      role: "ROLE_USER",
      parts: [{ text }],
    };
    await this.request("SendMessage", { message, configuration: { returnImmediately: true } });
  }

  readNotes(): readonly string[] {
    const file = join(this.#directory, "notes.txt");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  }

  /** Reads the stream of the task from its beginning. */
  async readStream(): Promise<readonly SentEvent[]> {
    const bridge = await this.#current;
    const headers = { "last-event-id": "0" };
    return readAllEvents(await bridge.post("SubscribeToTask", { id: this.taskId }, headers));
  }

  async close(): Promise<void> {
    await (await this.#current).kill();
  }
}

/** The updates of a stream without the pieces of artifacts. */
function listExpected(events: readonly SentEvent[]): readonly string[] {
  return events
    .filter(({ data }) => data.result.artifactUpdate?.lastChunk !== false)
    .map(({ id }) => String(id));
}

const sequencesOf = ({ received }: Receiver) =>
  received.map(({ headers }) => String(headers["spanline-sequence"]));

it("A receiver gets every notification in order while the bridge is killed, and only the notification in flight twice", async () => {
  const directory = join(command.folder, "kill-push");
  mkdirSync(directory);
  const file = join(directory, "team.json");
  const agents = { demo: { provider: { type: "demo" } } };
  writeFileSync(file, JSON.stringify({ agents, serve: { a2a: { push: { allowPrivate: true } } } }));
  const bridge = new KilledBridge(directory, () =>
    startA2aBridge(command, directory, ["--config", file]),
  );
  const killCount = { quick: 6, usual: 6, full: 30, all: 100 }[testDepth()];
  for (let round = 0; bridge.kills < killCount; round += 1) {
    const receiver = await startReceiver([], (push, response) => bridge.handle(push, response));
    const plan = new Map<number, KillMoment>([
      [1 + (round % 5), round % 2 === 0 ? "before" : "after"],
      [3 + (round % 4), round % 3 === 0 ? "after" : "before"],
    ]);
    await withDeadline(
      bridge.run(`round-${round}`, plan, receiver.url),
      () => JSON.stringify(receiver.received.slice(-3)),
      120_000,
    );
    const sequences = sequencesOf(receiver);
    const distinct = sequences.filter((sequence, at) => sequence !== sequences[at - 1]);
    expect(distinct).toEqual(listExpected(await bridge.readStream()));
    expect(sequences.length - distinct.length).toBeLessThanOrEqual(plan.size);
    const bodies = new Map(
      receiver.received.map(({ headers, body }) => [headers["spanline-id"], body]),
    );
    for (const { headers, body } of receiver.received)
      expect(body).toBe(bodies.get(headers["spanline-id"]));
    expect(bridge.readNotes().filter((note) => note === `round-${round}`)).toHaveLength(1);
  }
  await bridge.close();
});
