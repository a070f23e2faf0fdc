import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readEvents, type SentEvent } from "../a2a/support/read-events.ts";
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

const up = (directory: string) => startA2aBridge(command, directory);

function createMessage(text: string, messageId: string, taskId = ""): object {
  return { message: { messageId, taskId, role: "ROLE_USER", parts: [{ text }] } };
}

/** A peer which reads the stream of a task over many connections, and kills the bridge between the connections. */
class Peer {
  readonly received: SentEvent[] = [];
  readonly #directory: string;
  readonly #name: string;
  #bridge: A2aBridge;
  #taskId = "";

  constructor(directory: string, name: string, bridge: A2aBridge) {
    this.#directory = directory;
    this.#name = name;
    this.#bridge = bridge;
  }

  get bridge(): A2aBridge {
    return this.#bridge;
  }

  /** Reads at most `count` events, then kills the bridge. Returns whether the task has ended. */
  async readThenKill(count: number): Promise<boolean> {
    let remaining = count;
    for await (const event of readEvents(await this.#connect())) {
      this.received.push(event);
      this.#taskId ||= event.data.result.task.id;
      const { status } = event.data.result.statusUpdate ?? event.data.result.task ?? {};
      if (status?.state === "TASK_STATE_INPUT_REQUIRED") await this.#decide(status.message);
      if (status?.state === "TASK_STATE_COMPLETED") return true;
      remaining -= 1;
      if (remaining === 0) break;
    }
    await this.#bridge.kill();
    this.#bridge = await up(this.#directory);
    return false;
  }

  /** The first connection sends the message, again after a kill before its first event. Later ones have a cursor. */
  #connect(): Promise<Response> {
    const last = this.received.at(-1)?.id;
    const headers = last === undefined || last === null ? {} : { "last-event-id": last };
    const text = `Please save a note: ${this.#name}`;
    return last === undefined
      ? this.#bridge.post("SendStreamingMessage", createMessage(text, `${this.#name}-start`))
      : this.#bridge.post("SubscribeToTask", { id: this.#taskId }, headers);
  }

  /** Decides the request. After a kill the same request is decided again, with the same message id. */
  async #decide({
    messageId,
    parts,
  }: {
    readonly messageId: string;
    readonly parts: readonly { readonly data?: { readonly options: readonly string[] } }[];
  }): Promise<void> {
    const options = parts.flatMap(({ data }) => data?.options ?? []);
    // An interrupted tool is a question to people: the peer looks at the notes, as a person would.
    const interrupted = this.readNotes().includes(this.#name) ? "done" : "run-again";
    const decision = options.includes("allow") ? "allow" : interrupted;
    const message = createMessage(decision, `${this.#name}-${messageId}`, this.#taskId);
    const configuration = { returnImmediately: true };
    const response = await this.#bridge.post("SendMessage", { ...message, configuration });
    const { error } = await response.json();
    if (error !== undefined) throw new Error(`The decision is refused: ${JSON.stringify(error)}`);
  }

  readNotes(): readonly string[] {
    const file = join(this.#directory, "notes.txt");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  }

  /** Reads the whole stream of the task over a single connection. */
  async readAgain(): Promise<readonly SentEvent[]> {
    const events: SentEvent[] = [];
    const response = await this.#bridge.post(
      "SubscribeToTask",
      { id: this.#taskId },
      { "last-event-id": "0" },
    );
    for await (const event of readEvents(response)) events.push(event);
    return events;
  }
}

it("A peer that reconnects with its cursor misses no event of its task, and repeats none, while the bridge is killed", async () => {
  const directory = join(command.folder, "kill-a2a");
  const kills = { quick: 6, usual: 6, full: 30, all: 100 }[testDepth()];
  let killed = 0;
  let bridge = await up(directory);
  for (let round = 0; killed < kills; round += 1) {
    const peer = new Peer(directory, `round-${round}`, bridge);
    for (let connection = 0; ; connection += 1) {
      const isOver = await withDeadline(
        // The agent repeats a lost message from its start, so later connections have to read further.
        peer.readThenKill(1 + (round % 4) + 6 * connection),
        () => JSON.stringify(peer.received.slice(-3)),
        60_000,
      );
      bridge = peer.bridge;
      if (isOver) break;
      killed += 1;
    }
    const whole = await peer.readAgain();
    expect(peer.received.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
    expect(peer.received.map(({ data }) => data)).toEqual(whole.map(({ data }) => data));
    expect(peer.readNotes().filter((note) => note === `round-${round}`)).toHaveLength(1);
  }
  await bridge.kill();
});
