import {
  BedrockAgentCoreClient,
  InvokeHarnessCommand,
  InvokeAgentRuntimeCommand,
  StopRuntimeSessionCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import { beforeAll, afterAll, describe, expect, it } from "vitest";
import type { ProviderEvent } from "../../src/domain/provider/provider-event.ts";
import { buildTurn } from "../../src/domain/provider/turn.ts";
import { createToolError, createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { parseScenario } from "../../src/emulator/brains/script/parse-scenario.ts";
import { createScriptBrain } from "../../src/emulator/brains/script/script-brain.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import type { Emulator } from "../../src/emulator/start-emulator.ts";
import { TEST_CREDENTIALS } from "../../src/emulator/emulator-options.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { runtimeProvider } from "../../src/providers/agentcore/runtime-provider.ts";
import { createResumeMessages } from "../../src/wire/converse/resume.ts";
import { foldSdkStream, toSdkMessages } from "../../src/wire/converse/aws-sdk.ts";
import { gather, catchRejection } from "../support/session/provider-session.ts";

const SCENARIO = `
seed: 7
chunk: 5
turns:
  - when: hello
    answer: Hello there. How are you?
  - when: think
    answer:
      - reasoning: Let me see.
        signature: c2lnbmVk
      - redacted: AP8n
      - text: I thought about it.
  - when: search
    answer:
      - text: I will look.
      - server: search
        id: srv_1
        input: { q: shoes }
        result: [{ json: { hits: 2 } }, { text: two }]
      - hook: before_tool_call
        name: guard
        decision: allow
      - text: Two were found.
  - when: both
    answer:
      - text: I need you twice.
      - call: look
        id: call_1
        input: { where: "left and right, at some length" }
      - call: ask
        id: call_2
        input: { question: which? }
  - when: { result: { tool: look } }
    answer: Thank you for looking.
  - when: limited
    answer: [Half of, { stop: max_tokens }]
  - when: odd
    answer: [{ call: a, id: A }, { call: b, id: B }, { call: c, id: C }]
    faults: { reuseIndex: true }
  - when: broken
    answer: [So far so good, { fail: { type: internalServerException, message: oops } }]
`;

let emulator: Emulator;
let client: BedrockAgentCoreClient;

beforeAll(async () => {
  const script = createScriptBrain(parseScenario("scenario.yaml", SCENARIO), systemClock);
  emulator = await emulate({
    signatures: "strict",
    brain: "script",
    brains: { script },
    runtimes: [{ name: "strands", style: "python" }],
    switches: { padding: "on" },
    commands: "run",
  });
  client = new BedrockAgentCoreClient({
    region: emulator.region,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
    maxAttempts: 1,
  });
});

afterAll(async () => {
  client.destroy();
  await emulator.close();
});

const { signal } = new AbortController();
const SDK_SESSION = "sdk-session-of-more-than-thirty-three-characters";

function ours() {
  const { demoArn: harnessArn, url: endpoint } = emulator;
  return harnessProvider({ harnessArn, endpoint, credentials: TEST_CREDENTIALS }).open();
}

async function bySdk(
  messages: InvokeHarnessCommand["input"]["messages"],
  runtimeSessionId: string,
): Promise<ProviderEvent[]> {
  const { demoArn: harnessArn } = emulator;
  const { stream } = await client.send(
    new InvokeHarnessCommand({ harnessArn, runtimeSessionId, messages }),
  );
  return gather(foldSdkStream(stream ?? (async function* () {})()));
}

function createMessages(text: string): InvokeHarnessCommand["input"]["messages"] {
  return [{ role: "user", content: [{ text }] }];
}

/**
 * Events without the fields on which the clients differ: byte offsets, and failure details known to a single client.
 */
function comparable(events: readonly ProviderEvent[]): unknown[] {
  return events.map((event) => {
    if (event.type === "diagnostic") {
      const { offset: _, ...diagnostic } = event.diagnostic;
      return { ...event, diagnostic };
    }
    return event.type === "end" && event.failure !== undefined
      ? { ...event, failure: { type: String(event.failure.details["type"]).toLowerCase() } }
      : event;
  });
}

describe("The AWS SDK and our client on one emulator that checks signatures", () => {
  it.each(["hello", "think", "search", "both", "limited", "odd", "broken"])(
    "Both clients see the same events: %s [AC-86]",
    async (prompt) => {
      const theirs = await bySdk(createMessages(prompt), `${SDK_SESSION}-${prompt}`);
      const call = await ours().invoke({ type: "prompt", texts: [prompt] }, { signal });
      const events = await gather(call);
      expect(comparable(events)).toEqual(comparable(theirs));
      expect(events.length).toBeGreaterThan(3);
    },
  );

  it("Both clients resume a waiting turn and see the same message [AC-43, AC-86]", async () => {
    const results = [
      createToolSuccess("call_1", { seen: true }),
      createToolError("call_2", "nobody is here"),
    ];
    const session = ours();
    const ourTurn = buildTurn(
      await gather(await session.invoke({ type: "prompt", texts: ["both"] }, { signal })),
    );
    const events = await gather(
      await session.invoke({ type: "results", turn: ourTurn, results }, { signal }),
    );
    const theirSession = `${SDK_SESSION}-resume`;
    const theirTurn = buildTurn(await bySdk(createMessages("both"), theirSession));
    const resume = toSdkMessages(createResumeMessages(theirTurn, results));
    expect(events).toEqual(await bySdk(resume, theirSession));
    expect(buildTurn(events).text).toBe("Thank you for looking.");
  });

  it("Both clients are refused with the same message", async () => {
    const message = "runtimeSessionId";
    const short = client.send(
      new InvokeHarnessCommand({
        harnessArn: emulator.demoArn,
        runtimeSessionId: "short",
        messages: createMessages("hello"),
      }),
    );
    const theirs = await catchRejection(short);
    expect(theirs).toMatchObject({ name: "ValidationException" });
    expect(String(theirs)).toContain(message);
    const unknown = emulator.demoArn.replace(/.$/, "x");
    const missing = harnessProvider({
      harnessArn: unknown,
      endpoint: emulator.url,
      credentials: TEST_CREDENTIALS,
    }).open();
    const refused = await catchRejection(
      missing.invoke({ type: "prompt", texts: ["hello"] }, { signal }),
    );
    const sdkRefused = await catchRejection(
      client.send(
        new InvokeHarnessCommand({
          harnessArn: unknown,
          runtimeSessionId: SDK_SESSION,
          messages: createMessages("hello"),
        }),
      ),
    );
    expect(refused).toMatchObject({ code: "not_found", status: 404 });
    expect((refused as Error).message).toBe(
      `ResourceNotFoundException: ${(sdkRefused as Error).message}`,
    );
  });

  it("Both clients are refused with wrong credentials [AC-92]", async () => {
    const credentials = { ...TEST_CREDENTIALS, secretAccessKey: "wrong" };
    const { demoArn: harnessArn, url: endpoint } = emulator;
    const session = harnessProvider({ harnessArn, endpoint, credentials }).open();
    const error = await catchRejection(
      session.invoke({ type: "prompt", texts: ["hi"] }, { signal }),
    );
    expect(error).toMatchObject({ code: "access_denied", status: 403 });
    expect(String(error)).toContain("The Canonical String for this request should have been");
    expect(String(error)).not.toContain("wrong");
    const stranger = new BedrockAgentCoreClient({
      region: emulator.region,
      endpoint,
      credentials,
      maxAttempts: 1,
    });
    const theirs = await catchRejection(
      stranger.send(
        new InvokeHarnessCommand({
          harnessArn,
          runtimeSessionId: SDK_SESSION,
          messages: createMessages("hello"),
        }),
      ),
    );
    stranger.destroy();
    expect(theirs).toMatchObject({ name: "InvalidSignatureException" });
  });

  it("Both clients invoke an agent runtime and stop its session [AC-86]", async () => {
    const arn = emulator.demoArn.replace(/harness\/.*/, "runtime/strands");
    const { response, contentType } = await client.send(
      new InvokeAgentRuntimeCommand({
        agentRuntimeArn: arn,
        runtimeSessionId: SDK_SESSION,
        payload: Buffer.from(JSON.stringify({ prompt: "search" })),
      }),
    );
    const text = (await response?.transformToString()) ?? "";
    expect([contentType, text.includes("Two were found.")]).toEqual([
      expect.stringContaining("text/event-stream"),
      true,
    ]);
    const { url: endpoint } = emulator;
    const provider = runtimeProvider({
      runtimeArn: arn,
      endpoint,
      credentials: TEST_CREDENTIALS,
    });
    const session = provider.open();
    const turn = buildTurn(
      await gather(await session.invoke({ type: "prompt", texts: ["search"] }, { signal })),
    );
    expect([turn.text, turn.end?.outcome]).toEqual(["I will look.Two were found.", "completed"]);
    expect(turn.serverToolCalls).toHaveLength(1);
    await session.stop({ signal });
    const { statusCode } = await client.send(
      new StopRuntimeSessionCommand({ agentRuntimeArn: arn, runtimeSessionId: SDK_SESSION }),
    );
    expect(statusCode).toBe(200);
  });
});
