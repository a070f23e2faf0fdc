import {
  BedrockAgentCoreClient,
  InvokeHarnessCommand,
  StopRuntimeSessionCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Brain, BrainRequest } from "../../src/emulator/brains/brain.ts";
import { joinTexts } from "../../src/emulator/brains/session-message.ts";
import type { Step } from "../../src/emulator/brains/step.ts";
import { bundleProgram } from "../support/bundle-program.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import {
  HARNESS_ARN,
  invoke,
  reasonsIn,
  running,
  SESSION,
  textIn,
  type Running,
  type Setup,
} from "./start-data-plane.ts";
import { waitUntil } from "../support/with-deadline.ts";

/** Answers "ok". For the prompt "?", answers with the texts of the conversation. */
const memory: Brain = {
  async respond({ messages }) {
    const texts = messages.map(joinTexts);
    return { type: "steps", steps: saying(texts.at(-1) === "?" ? texts.join(" | ") : "ok") };
  },
};

function saying(text: string): Step[] {
  return [
    { type: "start", role: "assistant" },
    { type: "text", text },
    { type: "stop", reason: "end_turn" },
  ];
}

async function askAgent({ client }: Running, text: string): Promise<string> {
  return textIn(await invoke(client, { text }));
}

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("The lifetime of a session [AC-88]", () => {
  const stop = new StopRuntimeSessionCommand({
    agentRuntimeArn: HARNESS_ARN,
    runtimeSessionId: SESSION,
  });

  it("A session continues while it is used and starts anew after 900 idle seconds", async () => {
    const clock = createFakeClock();
    const emulator = await running({ brain: memory, clock });
    await askAgent(emulator, "one");
    clock.advance(899_000);
    expect(await askAgent(emulator, "?")).toBe("one | ok | ?");
    clock.advance(900_000);
    expect(await askAgent(emulator, "?")).toBe("?");
  });

  it("A session ends after 28 800 seconds even if it is in use", async () => {
    const clock = createFakeClock();
    const emulator = await running({ brain: memory, clock });
    for (let hour = 0; hour < 40; hour++) {
      await askAgent(emulator, "again");
      clock.advance(720_000);
    }
    expect(await askAgent(emulator, "?")).toBe("?");
  });

  it("The lifecycle settings of a harness limit its sessions", async () => {
    const clock = createFakeClock();
    const lifecycle = { idleSeconds: 60, lifetimeSeconds: 100 };
    const emulator = await running({ brain: memory, clock, harness: { lifecycle } });
    await askAgent(emulator, "one");
    clock.advance(60_000);
    expect(await askAgent(emulator, "?")).toBe("?");
  });

  it("A session can be stopped repeatedly and starts anew when it is used", async () => {
    const emulator = await running({ brain: memory });
    await askAgent(emulator, "one");
    for (let time = 0; time < 2; time++) {
      const answer = await emulator.client.send(stop);
      expect(answer).toMatchObject({ statusCode: 200, runtimeSessionId: SESSION });
    }
    expect(await askAgent(emulator, "?")).toBe("?");
  });

  it("A stopped session resumes its conversation if memory has it and the switch says so", async () => {
    const harness = { memory: { managedMemoryConfiguration: {} } };
    const switches = { reviveWithMemory: "remember" };
    const emulator = await running({ brain: memory, harness, switches });
    await askAgent(emulator, "one");
    await emulator.client.send(stop);
    expect(await askAgent(emulator, "?")).toBe("one | ok | ?");
  });

  it("Stopping an unknown session is accepted or refused by a switch", async () => {
    const lenient = await running();
    expect(await lenient.client.send(stop)).toMatchObject({ statusCode: 200 });
    const strict = await running({ switches: { stopUnknownSession: 404 } });
    await expect(strict.client.send(stop)).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  it.each([
    ["interrupted", ["interrupted"]],
    ["reset", "aborted"],
  ])("Stopping a session ends its running turn: %s", async (stopDuringTurn, seen) => {
    const clock = createFakeClock();
    const script = "turns: [{answer: [Hi, {pause: 1000000}, {text: never}]}]";
    const { client } = await running({ script, clock, switches: { stopDuringTurn } });
    const { stream } = await client.send(
      new InvokeHarnessCommand({
        harnessArn: HARNESS_ARN,
        runtimeSessionId: SESSION,
        messages: [{ role: "user", content: [{ text: "go" }] }],
      }),
    );
    await client.send(stop);
    const events: object[] = [];
    const end = await (async () => {
      for await (const event of stream ?? []) events.push(event);
      return reasonsIn(events as never);
    })().catch((error: Error) => error.message);
    expect(end).toEqual(seen);
  });
});

describe("Running turns at the end of a session's lifetime [AC-88]", () => {
  const harness = { lifecycle: { idleSeconds: 60, lifetimeSeconds: 100 } };
  const invokeCommand = new InvokeHarnessCommand({
    harnessArn: HARNESS_ARN,
    runtimeSessionId: SESSION,
    messages: [{ role: "user", content: [{ text: "one" }] }],
  });

  it("A running turn is cut with its connection exactly when the lifetime ends", async () => {
    const clock = createFakeClock();
    const script = `
turns:
  - when: one
    answer: [Hi, { pause: 99000 }, { text: " again" }, { pause: 5000 }, { text: never }]
  - answer: Fresh.
`;
    const { client } = await running({ script, clock, harness });
    const { stream } = await client.send(invokeCommand);
    let text = "";
    const read = (async () => {
      for await (const event of stream ?? []) {
        text += event.contentBlockDelta?.delta?.text ?? "";
        if (text === "Hi") clock.advance(99_000);
        if (text === "Hi again") clock.advance(1000);
      }
    })();
    await expect(read).rejects.toThrow("aborted");
    expect(text).toBe("Hi again");
    expect(textIn(await invoke(client, { text: "two" }))).toBe("Fresh.");
  });

  it("A turn that was cut leaves nothing in the next session", async () => {
    const clock = createFakeClock();
    let go = (): void => {};
    const late = new Promise<void>((resolve) => (go = resolve));
    const deaf: Brain = {
      async respond(request) {
        if (joinTexts(request.messages.at(-1)) !== "one") return memory.respond(request);
        const steps = (async function* (): AsyncGenerator<Step> {
          yield { type: "start", role: "assistant" };
          yield { type: "text", text: "half" };
          await late;
          yield { type: "stop", reason: "end_turn" };
        })();
        return { type: "steps", steps };
      },
    };
    const emulator = await running({ brain: deaf, clock, harness });
    const { stream } = await emulator.client.send(invokeCommand);
    clock.advance(100_000);
    const read = (async () => {
      for await (const _ of stream ?? []);
    })();
    await expect(read).rejects.toThrow("aborted");
    expect(await askAgent(emulator, "two")).toBe("ok");
    go();
    expect(await askAgent(emulator, "?")).toBe("two | ok | ?");
  });

  it("A turn without output is reset when the lifetime ends", async () => {
    const clock = createFakeClock();
    let tell = (): void => {};
    const begun = new Promise<void>((resolve) => (tell = resolve));
    const stuck: Brain = {
      respond: () => {
        tell();
        return new Promise(() => {});
      },
    };
    const { url } = await running({ brain: stuck, clock, harness });
    const answer = fetch(`${url}/harnesses/invoke?harnessArn=${encodeURIComponent(HARNESS_ARN)}`, {
      method: "POST",
      headers: { "x-amzn-bedrock-agentcore-runtime-session-id": SESSION },
      body: '{"messages":[{"role":"user","content":[{"text":"one"}]}]}',
    });
    await begun;
    clock.advance(100_000);
    await expect(answer).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
  });

  it("A running turn is not cut by the idle timeout", async () => {
    const clock = createFakeClock();
    const script = "turns: [{answer: [Hi, {pause: 90000}, {text: ' there'}]}]";
    const { client } = await running({ script, clock, harness });
    const { stream } = await client.send(invokeCommand);
    let text = "";
    for await (const event of stream ?? []) {
      text += event.contentBlockDelta?.delta?.text ?? "";
      if (text === "Hi") clock.advance(90_000);
    }
    expect(text).toBe("Hi there");
  });
});

describe("Sessions on disk", () => {
  it("Sessions survive a restart, in files readable by their owner only", async () => {
    const dataDirectory = dataFolder();
    const first = await running({ brain: memory, dataDirectory });
    await askAgent(first, "one");
    await first.close();
    const [file = ""] = readdirSync(join(dataDirectory, "sessions"));
    const path = join(dataDirectory, "sessions", file);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDirectory, "sessions")).mode & 0o777).toBe(0o700);
    const second = await running({ brain: memory, dataDirectory });
    expect(await askAgent(second, "?")).toBe("one | ok | ?");
  });

  it("A turn is on disk before the client sees its end", async () => {
    const dataDirectory = dataFolder();
    const { client } = await running({ brain: memory, dataDirectory });
    await invoke(client, { text: "one" });
    const [file = ""] = readdirSync(join(dataDirectory, "sessions"));
    const lines = readFileSync(join(dataDirectory, "sessions", file), "utf8")
      .trim()
      .split("\n");
    const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(["started", "asked", "answered"]);
  });

  it("An incomplete line left by a killed process is skipped", async () => {
    const dataDirectory = dataFolder();
    const first = await running({ brain: memory, dataDirectory });
    await askAgent(first, "one");
    await first.close();
    const [file = ""] = readdirSync(join(dataDirectory, "sessions"));
    appendFileSync(join(dataDirectory, "sessions", file), '{"type":"answe');
    const second = await running({ brain: memory, dataDirectory });
    expect(await askAgent(second, "two")).toBe("ok");
    await second.close();
    const third = await running({ brain: memory, dataDirectory });
    expect(await askAgent(third, "?")).toBe("one | ok | two | ok | ?");
  });

  it("Sessions survive a killed emulator", async () => {
    const dataDirectory = dataFolder();
    const program = await bundleProgram("demo-emulator.ts");
    const first = await spawned(program, dataDirectory);
    await first.say("My name is Ada");
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    const second = await spawned(program, dataDirectory);
    expect(await second.say("What is my name?")).toBe("Your name is Ada.");
  });

  it.each([
    ["finish+remember", "one | ?"],
    ["abort+forget", "?"],
  ])(
    "A turn that was running when the emulator ended counts as a turn whose client disconnected: %s",
    async (onDisconnect, seen) => {
      const dataDirectory = dataFolder();
      const stuck: Brain = { respond: () => new Promise(() => {}) };
      const first = await running({ brain: stuck, dataDirectory });
      const lost = invoke(first.client, { text: "one" }).catch(() => "lost");
      await fileWith(join(dataDirectory, "sessions"), '"asked"');
      await first.close();
      expect(await lost).toBe("lost");
      const second = await running({ brain: memory, dataDirectory, switches: { onDisconnect } });
      expect(await askAgent(second, "?")).toBe(seen);
    },
  );
});

/** Starts an emulator in a separate process. */
async function spawned(program: string, dataDirectory: string) {
  const child = spawn(process.execPath, ["--no-warnings", program, dataDirectory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const [endpoint = "", harnessArn = ""] = line.split(" ");
  const client = new BedrockAgentCoreClient({
    region: "us-east-1",
    endpoint,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  const say = async (text: string): Promise<string> =>
    textIn(await invoke(client, { text, harnessArn }));
  return { child, say };
}

/** Resolves when a file in the folder contains the text; polls once per tick. */
async function fileWith(folder: string, text: string): Promise<void> {
  const files = (): readonly string[] => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  const has = (file: string): boolean => readFileSync(join(folder, file), "utf8").includes(text);
  await waitUntil(() => files().some(has), files);
}

describe("Clients that disconnect", () => {
  /** A brain which sends text, waits for `resume`, sends more text, and reports how its turn ended. */
  function gated() {
    const requests: BrainRequest[] = [];
    let resume = (): void => {};
    const gate = new Promise<void>((resolve) => (resume = resolve));
    let tell: (how: "finished" | "aborted") => void = () => {};
    const over = new Promise<"finished" | "aborted">((resolve) => (tell = resolve));
    const brain: Brain = {
      async respond(request) {
        requests.push(request);
        if (requests.length > 1) return memory.respond(request);
        return {
          type: "steps",
          steps: (async function* (): AsyncGenerator<Step> {
            try {
              yield { type: "start", role: "assistant" };
              yield { type: "text", text: "half" };
              await Promise.race([gate, aborted(request.signal)]);
              if (request.signal.aborted) return;
              yield { type: "text", text: " done" };
              yield { type: "stop", reason: "end_turn" };
            } finally {
              tell(request.signal.aborted ? "aborted" : "finished");
            }
          })(),
        };
      },
    };
    return { brain, resume: () => resume(), over };
  }

  function aborted(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve());
    });
  }

  async function leaveInTheMiddle(switches: object, brain: Brain): Promise<Running> {
    const emulator = await running({ brain, switches });
    const leaving = new AbortController();
    const { stream } = await emulator.client.send(
      new InvokeHarnessCommand({
        harnessArn: HARNESS_ARN,
        runtimeSessionId: SESSION,
        messages: [{ role: "user", content: [{ text: "one" }] }],
      }),
      { abortSignal: leaving.signal },
    );
    const [iterator] = [stream?.[Symbol.asyncIterator]()];
    await iterator?.next();
    leaving.abort();
    await iterator?.next().catch(() => {});
    return emulator;
  }

  it.each([
    ["finish+remember", "one | half done | ?"],
    ["finish+forget", "?"],
  ])("A disconnect does not end the turn with %s", async (onDisconnect, seen) => {
    const { brain, resume, over } = gated();
    const emulator = await leaveInTheMiddle({ onDisconnect, overlapping: "interleave" }, brain);
    await roundTrip(emulator);
    resume();
    expect(await over).toBe("finished");
    await roundTrip(emulator);
    expect(await askAgent(emulator, "?")).toBe(seen);
  });

  it.each([
    ["abort+keep-user", "one | ?"],
    ["abort+forget", "?"],
  ])("A disconnect ends the turn with %s", async (onDisconnect, seen) => {
    const { brain, over } = gated();
    const emulator = await leaveInTheMiddle({ onDisconnect, overlapping: "interleave" }, brain);
    expect(await over).toBe("aborted");
    await roundTrip(emulator);
    expect(await askAgent(emulator, "?")).toBe(seen);
  });

  /** Sends a request and waits for its response: the server has then handled every earlier input. */
  async function roundTrip({ client }: Running): Promise<void> {
    await client.send(
      new StopRuntimeSessionCommand({
        agentRuntimeArn: HARNESS_ARN,
        runtimeSessionId: "another-session-of-33-characters-or-more",
      }),
    );
  }
});

describe("Overlapping invocations of one session", () => {
  const script = `
turns:
  - when: slow
    answer: [Slow, { pause: 1000 }, { text: " done" }]
  - answer: Fast.
`;
  async function overlapping(setup: Setup) {
    const clock = createFakeClock();
    const emulator = await running({ script, clock, ...setup });
    const { stream } = await emulator.client.send(
      new InvokeHarnessCommand({
        harnessArn: HARNESS_ARN,
        runtimeSessionId: SESSION,
        messages: [{ role: "user", content: [{ text: "slow" }] }],
      }),
    );
    return { ...emulator, stream, clock };
  }

  it("An overlapping invocation is refused", async () => {
    const { client, clock, stream } = await overlapping({});
    await expect(invoke(client)).rejects.toMatchObject({
      name: "ConflictException",
      $metadata: { httpStatusCode: 409 },
    });
    clock.advance(1000);
    const events: object[] = [];
    for await (const event of stream ?? []) events.push(event);
    expect(textIn(events as never)).toBe("Slow done");
    expect(textIn(await invoke(client))).toBe("Fast.");
  });

  it("An overlapping invocation runs if the switch says so", async () => {
    const { client } = await overlapping({ switches: { overlapping: "interleave" } });
    expect(textIn(await invoke(client))).toBe("Fast.");
  });
});

describe("Timing of a turn", () => {
  it("timeoutSeconds limits a turn on the emulator's clock [AC-90]", async () => {
    const clock = createFakeClock();
    const script = "turns: [{answer: [Hi, {pause: 60000}, {text: late}]}]";
    const { client } = await running({ script, clock });
    const events = invokeThen(client, { timeoutSeconds: 5 }, () => clock.advance(5000));
    expect(reasonsIn(await events)).toEqual(["timeout_exceeded"]);
  });

  it("Keep-alive events are sent during silence if the switch says so", async () => {
    const clock = createFakeClock();
    const script = "turns: [{answer: [Hi, {pause: 60000}, {text: ' late'}]}]";
    const { client } = await running({ script, clock, switches: { keepAlive: "on" } });
    const events = await invokeThen(client, {}, () => clock.advance(60_000));
    // The SDK drops unknown events.
    expect(textIn(events)).toBe("Hi late");
  });

  async function invokeThen(
    client: Running["client"],
    input: object,
    then: () => void,
  ): Promise<Awaited<ReturnType<typeof invoke>>> {
    const { stream } = await client.send(
      new InvokeHarnessCommand({
        harnessArn: HARNESS_ARN,
        runtimeSessionId: SESSION,
        messages: [{ role: "user", content: [{ text: "go" }] }],
        ...input,
      }),
    );
    const events: object[] = [];
    let isFirst = true;
    for await (const event of stream ?? []) {
      events.push(event);
      if ("contentBlockDelta" in event && isFirst) {
        isFirst = false;
        then();
      }
    }
    return events as never;
  }
});
