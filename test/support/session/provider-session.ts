import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { buildTurn, type Turn } from "../../../src/domain/provider/turn.ts";
import {
  harnessProvider,
  type HarnessOptions,
  type HarnessSession,
} from "../../../src/providers/agentcore/harness-provider.ts";

export const HARNESS_ARN =
  "arn:aws:bedrock-agentcore:us-west-2:123456789012:harness/demo-a1b2c3d4e5";
export const TEST_KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "example-secret-key" };

export const PROMPT = { type: "prompt", texts: ["Hi"] } as const;

export function openHarnessSession(
  url: string,
  options: Partial<HarnessOptions> = {},
  sessionId?: string,
): HarnessSession {
  return harnessProvider({
    harnessArn: HARNESS_ARN,
    endpoint: url,
    credentials: TEST_KEYS,
    ...options,
  }).open(sessionId === undefined ? {} : { sessionId });
}

export async function gather<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export async function readTurn(events: AsyncIterable<ProviderEvent>): Promise<Turn> {
  return buildTurn(await gather(events));
}

/** Runs an invocation and reads it to its end. */
export async function runInvocation(
  session: HarnessSession,
  options: Partial<Parameters<HarnessSession["invoke"]>[1]> = {},
): Promise<Turn> {
  const { signal } = new AbortController();
  return readTurn(await session.invoke(PROMPT, { signal, ...options }));
}

/** Returns the rejection of a promise. */
export async function catchRejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("The promise did not reject");
}
