import { setImmediate } from "node:timers/promises";
import { startTimeBudget, type TimeBudget } from "../../../src/async/time-budget.ts";
import { createHttpClient, type SendHttp } from "../../../src/platform/http-client.ts";
import {
  createControlClient,
  type ControlClient,
} from "../../../src/provisioning/control-client.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";
import { startPeer, type Peer } from "./scripted-peer.ts";
import { PROCESS_MS } from "../with-deadline.ts";

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** Milliseconds since the start. */
  readonly at: number;
}

export interface ControlReply {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** A string is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
}

/** `hang` never responds, `reset` closes the connection. */
export type RespondToControl = (asked: ControlRequest) => ControlReply | "hang" | "reset";

/** A scripted control plane on a real socket, with a fake clock. */
export interface ScriptedControlPlane {
  readonly client: ControlClient;
  readonly clock: FakeClock;
  readonly peer: Peer;
  /** All received requests. */
  readonly requests: readonly ControlRequest[];
  readonly budget: (milliseconds: number, signal?: AbortSignal) => TimeBudget;
  /** Advances the clock while no request is running, until the promise is settled. */
  readonly settle: <Value>(promise: Promise<Value>) => Promise<Value>;
}

export async function startScriptedControlPlane(
  answering: RespondToControl,
): Promise<ScriptedControlPlane> {
  const clock = createFakeClock();
  const start = clock.now();
  const requests: ControlRequest[] = [];
  const hung = new Set<string>();
  const peer = await startPeer((response, request) => {
    const url = new URL(request.url, "http://peer");
    const body = request.body.length === 0 ? null : (JSON.parse(String(request.body)) as unknown);
    const { method } = request;
    const at = clock.now() - start;
    const question = { method, path: url.pathname, query: url.searchParams, body, at };
    requests.push(question);
    const reply = answering(question);
    if (reply === "reset") response.socket?.destroy();
    else if (reply === "hang") hung.add(String(request.headers["x-call"]));
    else {
      const { status = 200, headers = {}, body = "" } = reply;
      response.writeHead(status, { "x-amzn-requestid": "request-1", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    }
  });
  const { send, settle } = createPacedClient(clock, (call) => hung.has(call));
  const client = createControlClient({
    region: "us-west-2",
    endpoint: peer.url,
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    send,
    clock,
    random: () => 0,
  });
  const { signal: never } = new AbortController();
  return {
    client,
    clock,
    peer,
    requests,
    settle,
    budget: (milliseconds, signal = never) => startTimeBudget(clock, signal, milliseconds),
  };
}

// Loaded now: loading during the first request would take ticks without a visible request, and the clock would advance.
await import("@smithy/signature-v4");

const STEP_MS = 10;

export interface PacedClient {
  readonly send: SendHttp;
  readonly settle: <Value>(promise: Promise<Value>) => Promise<Value>;
}

/**
 * Sends real requests on a fake clock, which advances only while no request is running. Hanging requests do not count.
 */
export function createPacedClient(
  clock: FakeClock,
  isHung: (call: string) => boolean = () => false,
): PacedClient {
  const { send, busy } = countRequests(createHttpClient().send);
  const isIdle = (): boolean => [...busy].every((call) => isHung(call));
  return {
    send,
    async settle(promise) {
      const state = { over: false };
      const end = (): void => void (state.over = true);
      promise.then(end, end);
      const start = performance.now();
      while (!state.over) {
        if (performance.now() - start > PROCESS_MS) {
          throw new Error(`The promise is not settled. Running requests: ${[...busy].join(", ")}`);
        }
        await setImmediate();
        await setImmediate();
        if (!state.over && isIdle()) clock.advance(STEP_MS);
      }
      return promise;
    },
  };
}

/** Tracks the running requests until their bodies are read. */
function countRequests(send: SendHttp): { send: SendHttp; busy: ReadonlySet<string> } {
  const busy = new Set<string>();
  let count = 0;
  return {
    busy,
    async send(request, signal) {
      const call = String((count += 1));
      busy.add(call);
      try {
        const headers = { ...request.headers, "x-call": call };
        const answer = await send({ ...request, headers }, signal);
        return { ...answer, body: watchBody(answer.body, () => busy.delete(call)) };
      } catch (error) {
        busy.delete(call);
        throw error;
      }
    },
  };
}

async function* watchBody(body: AsyncIterable<Uint8Array>, over: () => void) {
  try {
    yield* body;
  } finally {
    over();
  }
}

export const ROLE = "arn:aws:iam::123456789012:role/agent";
export const ID = "demo-a1b2c3d4e5";
export const ARN = `arn:aws:bedrock-agentcore:us-west-2:123456789012:harness/${ID}`;
export const SPEC = { name: "demo", roleArn: ROLE, systemPrompt: "Be brief." } as const;

/** The members of a harness in responses of the service. */
export function createHarnessMembers(status: string, extra: object = {}) {
  return {
    harnessId: ID,
    harnessName: "demo",
    arn: ARN,
    status,
    harnessVersion: "1",
    createdAt: "2026-11-16T00:00:00Z",
    updatedAt: "2026-11-16T00:00:00Z",
    ...extra,
  };
}

export function createEndpointMembers(status: string, extra: object = {}) {
  const endpointName = "DEFAULT";
  return { harnessId: ID, endpointName, arn: `${ARN}/endpoint/DEFAULT`, status, ...extra };
}

export function createRefusal(status: number, type: string, headers: object = {}): ControlReply {
  return { status, headers: { "x-amzn-errortype": type, ...headers }, body: { message: "no" } };
}

/** Formats requests as `POST /harnesses`, in order. */
export function formatRequests(requests: readonly ControlRequest[]): string[] {
  return requests.map(({ method, path }) => `${method} ${path}`);
}
