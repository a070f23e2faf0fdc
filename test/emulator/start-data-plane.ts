import {
  BedrockAgentCoreClient,
  InvokeHarnessCommand,
  type InvokeHarnessCommandInput,
} from "@aws-sdk/client-bedrock-agentcore";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { parseScenario } from "../../src/emulator/brains/script/parse-scenario.ts";
import { createScriptBrain } from "../../src/emulator/brains/script/script-brain.ts";
import { createBrainFinder } from "../../src/emulator/brains/find-brain.ts";
import type { Brain } from "../../src/emulator/brains/brain.ts";
import type {
  HarnessRecord,
  HarnessRegistry,
} from "../../src/emulator/control/harness-registry.ts";
import { startEmulator } from "../../src/emulator/start-emulator.ts";
import type { EmulatorRoute } from "../../src/emulator/service/service-types.ts";
import { createDataRoutes, type DataPlaneOptions } from "../../src/emulator/data/data-routes.ts";
import { parseSwitches } from "../../src/emulator/switches.ts";

export const HARNESS_ARN =
  "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-abcdefghij";
export const SESSION = "550e8400-e29b-41d4-a716-446655440000";

export interface Setup extends Partial<Omit<DataPlaneOptions, "switches" | "harnesses">> {
  /** YAML of the scenario for the harness `demo`. */
  readonly script?: string;
  readonly brain?: Brain;
  readonly switches?: object;
  readonly harness?: Partial<HarnessRecord>;
}

export interface Running {
  readonly client: BedrockAgentCoreClient;
  readonly url: string;
  /** Number of requests received. */
  readonly requests: () => number;
  readonly close: () => Promise<void>;
}

/** Starts an emulator with a single harness on a real socket, with the unmodified AWS SDK client. */
export async function running(setup: Setup = {}): Promise<Running> {
  const { script = "turns: [{answer: Hello.}]", harness, clock, switches, dataDirectory } = setup;
  let count = 0;
  const emulator = await startEmulator({
    ...(clock === undefined ? {} : { clock }),
    ...(dataDirectory === undefined ? {} : { dataDirectory }),
    onBug(error) {
      throw error;
    },
    dataPlane({ clock: moved }) {
      const scripted = createScriptBrain(parseScenario(SCRIPT_FILE, script), moved);
      const named = { script: setup.brain ?? scripted };
      const data = createDataRoutes({
        brains: createBrainFinder({ clock: moved, named, fallback: "script" }),
        ...setup,
        clock: moved,
        harnesses: registryOf(harness),
        switches: parseSwitches(switches),
      });
      const countRequests = (route: EmulatorRoute): EmulatorRoute => ({
        ...route,
        handle(request, labels) {
          count += 1;
          return route.handle(request, labels);
        },
      });
      return { routes: data.routes.map(countRequests), close: () => data.close() };
    },
  });
  const client = new BedrockAgentCoreClient({
    region: "us-east-1",
    endpoint: emulator.url,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    client.destroy();
    await emulator.close();
  };
  onTestFinished(close);
  return { client, url: emulator.url, requests: () => count, close };
}

/** Base of relative paths in a script: the root of the project. */
const SCRIPT_FILE = join(import.meta.dirname, "../../test.yaml");

function registryOf(harness: Partial<HarnessRecord> = {}): HarnessRegistry {
  const record: HarnessRecord = {
    arn: HARNESS_ARN,
    id: "demo-abcdefghij",
    name: "demo",
    version: "1",
    endpoint: "DEFAULT",
    status: "READY",
    endpointStatus: "READY",
    model: null,
    systemPrompt: [{ text: "Be kind." }],
    tools: [],
    allowedTools: ["*"],
    skills: [],
    maxIterations: undefined,
    maxTokens: undefined,
    timeoutSeconds: undefined,
    memory: null,
    environmentVariables: {},
    tags: {},
    lifecycle: { idleSeconds: 900, lifetimeSeconds: 28_800 },
    brain: undefined,
    ...harness,
  };
  return {
    findHarness: (arn, qualifier) =>
      arn === record.arn && (qualifier ?? "DEFAULT") === record.endpoint ? record : undefined,
  };
}

/** All events of an invocation, as the SDK returns them. */
export async function invoke(
  client: BedrockAgentCoreClient,
  input: Partial<InvokeHarnessCommandInput> & { readonly text?: string } = {},
): Promise<Event[]> {
  const { text = "Hi", ...rest } = input;
  const { stream } = await client.send(
    new InvokeHarnessCommand({
      harnessArn: HARNESS_ARN,
      runtimeSessionId: SESSION,
      messages: [{ role: "user", content: [{ text }] }],
      ...rest,
    }),
  );
  const events: Event[] = [];
  for await (const event of stream ?? []) events.push(event as unknown as Event);
  return events;
}

export interface Event {
  readonly [name: string]:
    | undefined
    | {
        readonly [name: string]: unknown;
        readonly stopReason?: string;
        readonly delta?: { readonly text?: string };
      };
}

export function textIn(events: readonly Event[]): string {
  return events.map((event) => event["contentBlockDelta"]?.delta?.text ?? "").join("");
}

export function reasonsIn(events: readonly Event[]): unknown[] {
  return events.flatMap((event) => event["messageStop"]?.stopReason ?? []);
}
