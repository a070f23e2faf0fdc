import {
  BedrockAgentCoreClient,
  InvokeHarnessCommand,
  StopRuntimeSessionCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Brain } from "../../src/emulator/brains/brain.ts";
import { joinTexts } from "../../src/emulator/brains/session-message.ts";
import type { Step } from "../../src/emulator/brains/step.ts";
import { createDataPlane } from "../../src/emulator/data/emulated-data-plane.ts";
import { resolveSessionPath } from "../../src/emulator/data/session/session-log.ts";
import { startEmulator } from "../../src/emulator/start-emulator.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { HARNESS_ARN, invoke, reasonsIn, running, SESSION, textIn } from "./start-data-plane.ts";

function saying(text: string): Step[] {
  return [
    { type: "start", role: "assistant" },
    { type: "text", text },
    { type: "stop", reason: "end_turn" },
  ];
}

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-data-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An emulator which collects reported bugs, with a session log which can be made to refuse writes. */
async function withLog(dataDirectory = dataFolder()) {
  const bugs: unknown[] = [];
  let harnessArn = "";
  const path = (): string =>
    `${resolveSessionPath(join(dataDirectory, "sessions"), harnessArn, SESSION)}.jsonl`;
  const refuse = (): void => {
    renameSync(path(), `${path()}.aside`);
    mkdirSync(path());
  };
  const restore = (half = ""): void => {
    rmdirSync(path());
    renameSync(`${path()}.aside`, path());
    appendFileSync(path(), half);
  };
  /** Answers "ok"; for "?", the conversation; for "break", makes the log refuse the answer. */
  const brain: Brain = {
    async respond({ messages }) {
      const texts = messages.map(joinTexts);
      if (texts.at(-1) === "break") refuse();
      return { type: "steps", steps: saying(texts.at(-1) === "?" ? texts.join(" | ") : "ok") };
    },
  };
  const emulator = await startEmulator({
    dataDirectory,
    dataPlane: createDataPlane({ brain: "test", brains: { test: brain } }),
    onBug: (error) => bugs.push(error),
  });
  harnessArn = emulator.demoArn;
  const client = new BedrockAgentCoreClient({
    region: "us-east-1",
    endpoint: emulator.url,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    client.destroy();
    return (closing ??= emulator.close());
  };
  onTestFinished(close);
  const say = async (text: string): Promise<string> =>
    textIn(await invoke(client, { text, harnessArn }));
  return { dataDirectory, path, refuse, restore, bugs, say, close };
}

const FAILED = { name: "InternalServerException", $metadata: { httpStatusCode: 500 } };

describe("Session logs that cannot be written", () => {
  it("A prompt that cannot be logged fails without a trace and leaves the session usable", async () => {
    const first = await withLog();
    await first.say("one");
    first.refuse();
    await expect(first.say("lost")).rejects.toMatchObject(FAILED);
    await expect(first.say("lost")).rejects.toMatchObject(FAILED);
    expect(first.bugs).toMatchObject([{ code: "EISDIR" }, { code: "EISDIR" }]);
    first.restore('{"type":"asked","at":1,"turn":1,"mess');
    expect(await first.say("two")).toBe("ok");
    expect(await first.say("?")).toBe("one | ok | two | ok | ?");
    await first.close();
    for (const line of readFileSync(first.path(), "utf8").trim().split("\n")) JSON.parse(line);
    const second = await withLog(first.dataDirectory);
    expect(await second.say("?")).toMatch(/^one \| ok \| two \| ok \| \? \| /);
  });

  it("An answer that cannot be logged fails, is reported, and is absent after a restart too", async () => {
    const first = await withLog();
    await first.say("one");
    await expect(first.say("break")).rejects.toThrow("aborted");
    expect(first.bugs).toMatchObject([{ code: "EISDIR" }]);
    first.restore();
    expect(await first.say("?")).toBe("one | ok | break | ?");
    await first.close();
    const second = await withLog(first.dataDirectory);
    expect(await second.say("?")).toBe("one | ok | break | ? | one | ok | break | ? | ?");
  });
});

describe("Session logs that cannot be read", () => {
  const STARTED = `{"type":"started","at":${Date.now()},"arn":"a","session":"s","remembers":false}\n`;

  it.each([
    ["a record of an unknown type", `${STARTED}{"type":"future","at":1}\n`, 2],
    ["a prompt without messages", `${STARTED}{"type":"asked","at":1,"turn":0}\n`, 2],
    ["a damaged line in the middle", `${STARTED}{"type":"us\n${STARTED}`, 2],
  ])("An invalid log is reported with the line number: %s", async (_, text, line) => {
    const dataDirectory = dataFolder();
    mkdirSync(join(dataDirectory, "sessions"));
    const path = `${resolveSessionPath(join(dataDirectory, "sessions"), HARNESS_ARN, SESSION)}.jsonl`;
    writeFileSync(path, text);
    const { client, close } = await running({ dataDirectory });
    const failure = `Cannot read ${path}: line ${line} is `;
    await expect(invoke(client)).rejects.toThrow(failure);
    await expect(invoke(client)).rejects.toThrow(failure);
    expect(readFileSync(path, "utf8")).toBe(text);
    await close();
  });

  it("A log is read again after it is repaired", async () => {
    const { path, say, bugs, close, dataDirectory } = await withLog();
    mkdirSync(join(dataDirectory, "sessions"), { recursive: true });
    mkdirSync(path());
    await expect(say("one")).rejects.toMatchObject(FAILED);
    expect(bugs).toMatchObject([{ code: "EISDIR" }]);
    rmdirSync(path());
    expect(await say("one")).toBe("ok");
    await close();
  });

  it("An unreadable log does not prevent the emulator from closing", async () => {
    const { path, say, close, dataDirectory } = await withLog();
    mkdirSync(join(dataDirectory, "sessions"), { recursive: true });
    mkdirSync(path());
    await expect(say("one")).rejects.toMatchObject(FAILED);
    await close();
  });
});

const STOP = new StopRuntimeSessionCommand({
  agentRuntimeArn: HARNESS_ARN,
  runtimeSessionId: SESSION,
});

describe("Clients that stop reading", () => {
  it.each(["timeout", "stop"])(
    "A client that stops reading does not block its session: %s",
    async (how) => {
      const clock = createFakeClock();
      let spoken = 0;
      let turns = 0;
      let tellOver = (): void => {};
      const over = new Promise<void>((resolve) => (tellOver = resolve));
      const endless = async function* (): AsyncGenerator<Step> {
        try {
          yield { type: "start", role: "assistant" };
          for (;;) {
            spoken += 1;
            yield { type: "text", text: "x".repeat(60_000) };
          }
        } finally {
          tellOver();
        }
      };
      const brain: Brain = {
        async respond() {
          turns += 1;
          return { type: "steps", steps: turns === 1 ? endless() : saying("free") };
        },
      };
      const { client, url } = await running({ brain, clock });
      const stalled = request(
        `${url}/harnesses/invoke?harnessArn=${encodeURIComponent(HARNESS_ARN)}`,
        {
          method: "POST",
          headers: { "x-amzn-bedrock-agentcore-runtime-session-id": SESSION },
        },
      );
      stalled.end('{"messages":[{"role":"user","content":[{"text":"go"}]}],"timeoutSeconds":5}');
      const [answer] = await once(stalled, "response");
      answer.on("error", () => {});
      onTestFinished(() => void stalled.destroy());
      // The turn is blocked when its output stops while other requests are answered.
      for (let before = -1; before !== spoken;) {
        before = spoken;
        for (let time = 0; time < 5; time++) {
          await expect(invoke(client)).rejects.toMatchObject({ name: "ConflictException" });
        }
      }
      if (how === "timeout") clock.advance(5000);
      else await client.send(STOP);
      await over;
      // The end of the turn is stored in memory before another request arrives.
      expect(textIn(await invoke(client))).toBe("free");
    },
  );
});

describe("Brains that throw when aborted", () => {
  it.each([
    ["timeout", "timeout_exceeded"],
    ["stop", "interrupted"],
  ])("A brain that throws when aborted ends its turn like any other: %s", async (how, reason) => {
    const clock = createFakeClock();
    const brain: Brain = {
      respond: async ({ signal }) => ({
        type: "steps",
        steps: (async function* (): AsyncGenerator<Step> {
          yield { type: "start", role: "assistant" };
          yield { type: "text", text: "half" };
          await once(signal, "abort");
          throw new Error("The model was cut off");
        })(),
      }),
    };
    const switches = { stopDuringTurn: "interrupted" };
    const { client } = await running({ brain, clock, switches });
    const { stream } = await client.send(
      new InvokeHarnessCommand({
        harnessArn: HARNESS_ARN,
        runtimeSessionId: SESSION,
        messages: [{ role: "user", content: [{ text: "go" }] }],
        timeoutSeconds: 5,
      }),
    );
    const events: object[] = [];
    for await (const event of stream ?? []) {
      events.push(event);
      if (!("contentBlockDelta" in event)) continue;
      if (how === "timeout") clock.advance(5000);
      else await client.send(STOP);
    }
    expect(textIn(events as never)).toBe("half");
    expect(reasonsIn(events as never)).toEqual([reason]);
  });
});
